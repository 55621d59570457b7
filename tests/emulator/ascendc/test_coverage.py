"""Every symbol of real kernels that is not refused on purpose is run by a test, in each documented form and type."""

import pytest
from emulator.ascendc.symbol_coverage import measure, report


@pytest.mark.long
def test_every_symbol_is_covered(capsys: pytest.CaptureFixture[str]) -> None:
    lines, missing = report(measure())
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert missing == []
