import json

FLEET = """
apiVersion: hetero-ops/v1
kind: Fleet
clusters:
  - name: west
    nodes:
      - name: both
        driver: {nvidia: "535.104.05", amd: "6.10.5"}
        devices:
          - {sku: H200-SXM-141GB, count: 7, partition: 1g.18gb, memory_mib: 16384}
          - {sku: unknown, model: XPU-9000, vendor: nvidia, count: 1}
"""


def test_findings_of_nodes_and_pools_are_listed(command, tmp_path):
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET)
    result = command("fleet", "validate", "--fleet", str(file), "--json")
    assert result.code == 0
    found = {(entry["code"], entry.get("node", entry.get("pool"))) for entry in json.loads(result.out)}
    assert found == {("UNKNOWN_DEVICE", ""), ("DRIVER_TOO_OLD", "both"), ("TWO_STACKS", "both")}
