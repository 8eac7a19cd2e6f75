import pytest

from hetero_ops.units import format_bandwidth, format_memory, parse_bandwidth, parse_memory, roughly


@pytest.mark.parametrize(
    ("text", "memory_mib"),
    [
        ("80GB", 81920),
        ("80GiB", 81920),
        ("80gb", 81920),
        ("512MB", 512),
        ("512MiB", 512),
        ("1TB", 1048576),
        ("1.5TB", 1572864),
        ("0.5GB", 512),
        ("1024TB", 1 << 30),
    ],
)
def test_memory_is_read_as_mib(text: str, memory_mib: int) -> None:
    assert parse_memory(text) == memory_mib


@pytest.mark.parametrize(
    ("text", "bandwidth_mbps"),
    [("3TB/s", 3_000_000), ("600GB/s", 600_000), ("3.35TB/s", 3_350_000), ("614.4GB/s", 614_400), ("1MB/s", 1)],
)
def test_bandwidth_is_read_as_decimal_megabytes_per_second(text: str, bandwidth_mbps: int) -> None:
    assert parse_bandwidth(text) == bandwidth_mbps


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a memory size; write"),
        ("80", "is not a memory size"),
        ("GB", "is not a memory size"),
        ("80 GB", "is not a memory size"),
        ("80GB\n", "is not a memory size"),
        ("-80GB", "is not a memory size"),
        ("nanGB", "is not a memory size"),
        ("infGB", "is not a memory size"),
        ("1e3GB", "is not a memory size"),
        ("\uff18\uff10GB", "is not a memory size"),
        ("80KB", "is not a memory size"),
        ("80GB/s", "is not a memory size"),
        ("9" * 100_000 + "GB", "is not a memory size"),
        ("0GB", "is zero"),
        ("0.3GB", "whole number of MB; write 307MB"),
        ("1025TB", "too large"),
    ],
)
def test_what_is_no_memory_size_is_refused_with_a_fix(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        parse_memory(text)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("text", ["600GB", "600", "-1GB/s", "nanGB/s", "0GB/s", "1001TB/s", "0.0001MB/s", "\uff16GB/s"])
def test_what_is_no_bandwidth_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write|check the unit"):
        parse_bandwidth(text)


@pytest.mark.parametrize(
    ("memory_mib", "text"), [(81920, "80GB"), (512, "512MB"), (1048576, "1TB"), (1572864, "1536GB"), (81559, "81559MB")]
)
def test_memory_prints_in_the_largest_whole_unit(memory_mib: int, text: str) -> None:
    assert format_memory(memory_mib) == text


@pytest.mark.parametrize("amount", [1, 7, 999, 1000, 1024, 3_350_000, 1_000_000_000])
def test_what_is_printed_parses_back(amount: int) -> None:
    assert parse_memory(format_memory(amount)) == amount
    assert parse_bandwidth(format_bandwidth(amount)) == amount


@pytest.mark.parametrize(
    ("duration_ms", "text"),
    [
        (0, "0s"),
        (999, "0s"),
        (1999, "1s"),
        (60_000, "1m"),
        (119_999, "119s"),
        (120_000, "2m"),
        (12 * 60_000 + 59_999, "12m"),
        (7_200_000, "2h"),
        (9_000_001, "150m"),
    ],
)
def test_a_time_is_told_roughly_and_never_as_more_than_it_is(duration_ms: int, text: str) -> None:
    assert roughly(duration_ms) == text
