import pytest

from hetero_ops.gap.library import missing_libraries


@pytest.mark.parametrize(
    ("requires", "runtime", "missing"),
    [
        (["cudnn|miopen"], ["cudnn", "tensorrt"], []),
        (["cudnn|miopen"], ["MIOpen"], []),
        (["cudnn | miopen", "tensorrt"], ["miopen"], ["tensorrt"]),
        (["tensorrt", "cudnn"], [], ["tensorrt", "cudnn"]),
        (["cudnn"], ["cudnn-frontend"], ["cudnn"]),
        (["|"], ["cudnn"], ["|"]),
        ([], [], []),
        ([], None, []),
        (["cudnn"], None, None),
    ],
)
def test_libraries_are_compared_and_a_silent_node_is_unknown(requires, runtime, missing):
    assert missing_libraries(requires, runtime) == missing
