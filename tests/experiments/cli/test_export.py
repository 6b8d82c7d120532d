"""lpsm export: its files, and those of others."""


def test_files_that_others_made_stay(lpsm, tmp_path):
    (tmp_path / "lpsm_policy.c").write_text("int main(void);\n")
    refused = lpsm("export", "psm", "--out", str(tmp_path))
    assert refused.exit_code == 2
    assert "lpsm_policy.c was not written by lpsm export; choose another --out" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["lpsm_policy.c"]
    for _ in range(2):  # its own files are replaced
        assert lpsm("export", "psm:102.4", "--out", str(tmp_path / "of-mine")).exit_code == 0
    assert "SPDX-License-Identifier: BSD-3-Clause" in (tmp_path / "of-mine" / "lpsm_policy.h").read_text()


def test_skeletons_are_written_once_and_stay_as_they_were_completed(lpsm, tmp_path):
    assert lpsm("export", "psm:102.4", "--out", str(tmp_path)).exit_code == 0
    (tmp_path / "zephyr" / "lpsm_zephyr.c").write_text("mine")
    assert lpsm("export", "psm:102.4", "--out", str(tmp_path)).exit_code == 0
    assert (tmp_path / "zephyr" / "lpsm_zephyr.c").read_text() == "mine"
    assert (tmp_path / "esp-idf" / "idf_component.yml").read_text().startswith("# SPDX-License-Identifier: BSD")
