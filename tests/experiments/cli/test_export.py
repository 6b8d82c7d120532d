"""lpsm export: its files, and those of others."""

from functools import partial

from netsim.firmware import export


def test_files_of_others_and_skeletons_that_were_completed_stay_its_own_are_replaced(lpsm, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "exported", partial(export.exported, pages=1))
    (mine := tmp_path / "lpsm_policy.c").write_text("int main(void);\n")
    refused = lpsm("export", "psm", "--out", tmp_path)
    assert refused.exit_code == 2
    assert "lpsm_policy.c was not written by lpsm export; choose another --out" in refused.stderr
    assert [*tmp_path.iterdir()] == [mine]
    mine.unlink()
    skeleton, header = tmp_path / "zephyr" / "lpsm_zephyr.c", tmp_path / "lpsm_policy.h"
    assert lpsm("export", "psm:102.4", "--out", tmp_path).exit_code == 0
    skeleton.write_text("mine")
    text = header.read_text()
    header.write_text(f"{text}\n")
    assert lpsm("export", "psm:102.4", "--out", tmp_path).exit_code == 0
    assert (skeleton.read_text(), header.read_text()) == ("mine", text)
    assert "SPDX-License-Identifier: BSD-3-Clause" in text
    assert (tmp_path / "esp-idf" / "idf_component.yml").read_text().startswith("# SPDX-License-Identifier: BSD")
