"""Every wrong call of a command is one line with the rule and the value, exit status 2, and nothing is written."""

import os
import struct
from pathlib import Path

import pytest

from tests.experiments import makers
from tests.experiments.makers import contents
from tests.tables import named

ETHERNET = b"\xd4\xc3\xb2\xa1" + struct.pack("<HHIIII", 2, 4, 0, 0, 65535, 1) + struct.pack("<4I60x", 1, 0, 60, 60)
EVIL = "class Evil:\n    def __init__(self):\n        open('made', 'w')\n"
CONTENTS = named(r"""
WORK = WORK ; TABLE = TABLE ; STREAM = STREAM ; CAPTURE = air_capture() ; ETHERNET = ETHERNET ; mine.py = OWN_POLICIES
evil.py = EVIL ; evil.sh = "#!/bin/sh\ntouch made\n"
ONE = '{"page": "a", "request_bytes": 300, "reply_bytes": 5000, "think_s": 2.0}\n'
CUT = 'cs18 790000000 0 "http://a.b/0.html" 99 0.5\ncs18 7900' ; EMPTY = ""
CUT-WORK = '{"page": "a", "request_bytes": 300, "reply_bytes": 5000}\n{"page": "b", "requ'
BAD-WORK = '{"page": "a", "request_bytes": -3, "reply_bytes": 5000}\n'
BAD-THINK = '{"page": "a", "request_bytes": 3, "reply_bytes": 5, "think_s": -1}\n' ; PROSE = "what is this\n"
CACHED = 'cs18 1 0 "http://a/" 0 0.0\n' ; NAN = "1,2,x\n1,nan,z\n" ; THREE = "1,2,-1\n1,3,1\n2,3,-1\n2,4,1\n1,2,0\n"
RAGGED = "1,2,x\n1,2,3,z\n" ; SAME = "1,2,x\n1,3,x\n" ; ZERO = "1,2,x\n0,0,z\n" ; UNKNOWN.toml = "mss_bites = 3\n"
TEXT.toml = 'mss_bytes = "many"\n' ; LARGE.toml = "window = 1e300\n" ; SWITCH.toml = "nagle = 1\n"
BROKEN.toml = "nagle = \n" ; MSS.toml = "mss_bytes = 0\n" ; WIRES.toml = "wireless_mbps = 5\n"
AWAKE.toml = "awake_mw = 10\n" ; HALF.toml = "awake_mw = 750\n" ; FILLED/mine = "mine" ; FOLDER.csv/mine = "mine"
""", {**vars(makers), **globals()})  # fmt: skip
FOLDERS = ("compare --pages 1 --seeds 1", "label STREAM --algorithm ssmd", "population WORK", "replay TABLE",
           "tune --pages 1 --seeds 2")  # fmt: skip
CALLS = dict(
    line.split(" -> ")
    for line in """\
compar -> did you mean 'compare'?
compare --policie none -> --policies
compare --pages 1 --seeds 1 --clairvoyant --clients 2 -> clairvoyant must be asked of one client
compare --pages 1 --seeds 1 --clairvoyant --loss 0.1 -> on which no frame is lost
simulate WORK --loss 1.5 -> 1.5
simulate WORK --loss nan -> 'nan' is not a number
simulate WORK --rtt -1 -> rtt must be recorded, or seconds from 0 to 3600, got -1
simulate WORK --rtt soon -> rtt must be recorded, or seconds from 0 to 3600, got soon
simulate WORK --server-delay soon -> soon
simulate WORK --min-rto 0 -> min_rto_s
simulate WORK --beacon-ms 0 -> '--beacon-ms': 0.0 is not in the range 1.0<=x<=1000000.0
simulate WORK --radio esp23 -> got 'esp23'; did you mean 'esp32'?
simulate WORK --preset these -> 'these' is not one of 'today', 'iot', 'wires', 'thesis'
simulate WORK --preset thesis --dtim 3 -> dtim_period belongs to the shared air, and no --air is given
simulate WORK --preset thesis --neighbours 3 -> neighbours belongs to the shared air, and no --air is given
simulate WORK --air 11x -> kind must be one of 11b
simulate WORK --air 11g:55 -> rate_mbps of 11g must be one of 6, 9
simulate WORK --air 11g --neighbours 1.5 -> '--neighbours': it must be N:MBPS
simulate WORK --world absent.toml -> absent.toml
simulate WORK --world UNKNOWN.toml -> mss_bites is no setting of a world, did you mean mss_bytes?
simulate WORK --world TEXT.toml -> mss_bytes must be of the type int, got 'many'
simulate WORK --world LARGE.toml -> window must be of the type int, got 1e+300
simulate WORK --world SWITCH.toml -> nagle must be of the type bool, got 1
simulate WORK --world BROKEN.toml -> BROKEN.toml: a world must be a TOML file
simulate WORK --world PROSE -> a world must be a TOML file
simulate WORK --world MSS.toml -> mss_bytes must be an integer of at least 1, got 0
simulate WORK --world WIRES.toml --air 11g -> wireless_mbps is the rate of wires
simulate WORK --world AWAKE.toml -> awake_mw is no setting of a world
simulate WORK --policy psn -> did you mean psm?
simulate WORK --policy bsd:0 -> 0
simulate WORK --policy bsd:-1 -> -1
simulate WORK --policy psm:150 -> 150
simulate WORK --policy psm:0 -> 0
simulate WORK --policy lpsm:linear -> lpsm:linear
simulate absent.jsonl -> absent.jsonl
simulate EMPTY -> at least one page
simulate CUT-WORK -> CUT-WORK, line 2
simulate BAD-WORK -> request_bytes
simulate BAD-THINK -> think_s
simulate WORK --out EMPTY/x.csv -> the output must be a folder
compare --policies none,psn -> did you mean psm?
compare --policies bsd:0 -> 0
compare --policies psm:150 -> 150
compare --policies , -> at least one policy
compare --policies psm,,bsd -> a name must stand before and after each comma, got 'psm,,bsd'
population TABLE --policies psm, -> a name must stand before and after each comma, got 'psm,'
compare --policies psm,psm:100 -> policies must differ
compare --policies psm:100 --beacon-ms 70 -> the psm period must be a positive multiple of 70 ms, got 100 ms
compare --pages 0 -> '--pages': 0 is not in the range 1<=x<=1000000
compare --member x* -> no --trace is given
compare --trace absent.tar -> absent.tar
compare --trace CUT -> CUT, line 2
compare --trace ONE --member x -> is a workload
compare --trace ONE --pages 3 -> --pages is for traffic that is drawn, and --trace is given
compare --trace ONE --seeds 3 -> --seeds is for traffic that is drawn, and --trace is given
compare --clients 2,0 -> clients must be whole numbers from 1 to 1000, got 0
compare --sweep server_delay -> sweep must be FIELD=VALUE,VALUE,..., got 'server_delay'
compare --sweep server_delay= -> sweep must be FIELD=VALUE,VALUE,..., got 'server_delay='
compare --sweep server_delay=0,0 -> server_delay must have different values, got 0,0
compare --sweep rtt=0.1 --sweep rtt=0.2 -> rtt must be swept once, got 'rtt=0.2'
compare --sweep mss_bites=3 -> mss_bites is no setting of a world, did you mean mss_bytes?
compare --sweep loss=2 -> loss is no setting of a world, did you mean loss_rate?
compare --sweep loss_rate=0,2 -> loss_rate must lie in [0, 1), got 2
compare --sweep server_delay=soon -> soon
compare --preset thesis --sweep dtim_period=1,2 -> and no --air is given
compare --sweep clients=1,0 -> clients must be whole numbers from 1 to 1000, got 0
compare --baseline psn -> did you mean psm?
compare --baseline psm:150 -> the psm period must be a positive multiple of 102.4 ms, got 150 ms
compare --max-slowdown 0.5 -> 0.5 is not in the range 1.0<=x
tune --battery-mwh 0 -> 0.0 is not in the range 0.0<x
tune --policies bds:1 -> did you mean bsd?
tune --seeds 1 -> at least two seeds, sessions or pages to be split, got one
tune --member x -> member chooses from traffic, but no TRAFFIC is given
tune --think 3 -> think is for recorded traffic, but the traffic is split by seeds
tune nowhere.har -> nowhere.har
tune ONE -> needs at least two seeds, sessions or pages
population TABLE --policies none,psn -> did you mean psm?
population TABLE --policies , -> at least one
population TABLE --scheduler slurm -> 'slurm'
population TABLE --scheduler tcp://127.0.0.1:1 --jobs 1 -> jobs are for this machine
population CUT -> CUT, line 2
replay TABLE --times 100:oops -> times must be
replay TABLE --times 0:0:0 -> times must be
replay TABLE --member x* -> --member is for folders and archives of sessions, got csv
pages EMPTY -> a trace must not be empty
pages PROSE -> the content must be of a known format
pages ONE -> a trace must hold requests, got a workload
pages CUT -> line 2: a line must be whole
pages CACHED -> a workload must hold at least one page
pages none -> No such file
generate --pages x -> not a valid integer
generate --web 1996 --hours 0 -> hours must lie in [1e-06, 100000], got 0
generate --kind push --messages-per-hour 0 -> must have a page or a message
generate --kind push --message-bytes 5:3 -> message_bytes must be two sizes
generate --kind push --message-bytes a:3 -> --message-bytes must be BYTES or LEAST:MOST, got a:3
generate --kind voice --pages 1 -> --pages must be left out for --kind voice
generate --bursty -> --bursty must be left out for --kind web
generate --keep-alive 0 -> keep_alive_s must lie in [1e-06, 100000], got 0
bounds --process walk -> 'walk' is not one of 'iid'
bounds --learner oracle -> 'oracle' is not one of
bounds --losses x.npy --rounds 3 -> leave no choice
bounds --sleepers -> it needs --losses
bounds --learner static-expert --alpha 0.1 -> the switching rate of fixed-share, the learners are static-expert
label STREAM --algorithm ssm -> got 'ssm', did you mean ssmd?
label STREAM --algorithm ssmd --param b=1 -> 'ssmd' takes the parameters ['K', 'a'], got ['b']
label STREAM --algorithm ssmd --param K=-1 -> K must be positive, got -1
label STREAM --algorithm ssmd --param K=abc -> K must be a number, got 'abc'
label STREAM --multiclass --one-vs-rest -> give one of them
label STREAM --algorithm ssmd --param K -> a parameter must be NAME=VALUE, got 'K'
label STREAM --label e -> label must name one of the columns a, b, c, d, kind, got 'e'
label STREAM --positive eggs -> the positive class must be one of ham, spam, got 'eggs'
label NAN -> line 2, column 1: a feature must be a finite number, got 'nan'
label THREE -> must have one of two classes, got -1 (2 times), 0 (1 times), 1 (2 times): --one-vs-rest takes more
label RAGGED -> line 2: every line must have 3 columns
label EMPTY -> a stream must hold an example, got none
label SAME -> labels must name two classes, all 2 name x
label ZERO --algorithm sop-ss -> line 2: an instance must not be zero where instances are normalised
label iris -> one of elec2, mnist, rcv1, reuters
label absent.csv -> absent.csv
label usps -> is not there
list colours -> 'colours' is not one of 'policies'
reproduce -> say what to reproduce
reproduce thesis/fig-2-7 thesis/fig-0 -> got 'thesis/fig-0'
timeline WORK --pcap x.pcapng -> policies must be one for a capture (--pcap), got 4
timeline WORK --page 9 -> page must lie in [1, 3], got 9
timeline WORK --preset thesis --policies psm --pcap x.pcapng -> wires have no frames of 802.11
timeline WORK --page 1 --from 2 -> exclude each other
timeline WORK --from 1e9 -> window must begin
timeline WORK --out x.gif -> must end in .svg or .png
simulate WORK --radio HALF.toml -> HALF.toml: asleep_mw must be given
simulate WORK --out FOLDER.csv -> FOLDER.csv: is a folder, a file name is needed
simulate WORK --out WORK -> an output must be a file of its own
pages TABLE --out TABLE -> an output must be a file of its own
generate --pages 2 --out . -> is a folder, a file name is needed
reproduce thesis/fig-2-7 --size smoke --out WORK/below -> the output must be a folder
audit ETHERNET -> must be of 802.11 frames, taken in monitor mode
audit EMPTY -> EMPTY: a trace must not be empty
audit TABLE -> a monitor-mode capture (pcap or pcapng) is needed here, got a trace, csv
audit CAPTURE --picture a.txt -> must end in .svg or .png
report absent -> must be a folder of results
report FILLED -> must hold a manifest.json
report FILLED --out page.htm -> ends in .html
explore --no-open --trace missing.har -> missing.har""".splitlines()
)
CALLS |= {f"{words} --out {out}": out.partition("/")[0] for words in FOLDERS
    for out in ("WORK", "PIPE", "WORK/below", "FILLED")}  # fmt: skip
CALLS |= {  # policies of one's own
    f"{command} {text}": said
    for command in ("simulate WORK --policy", "compare --policies", "population WORK --policies")
    for text, said in {"logging:FileHandler:made": "a policy must be one of", "evil.py:Evil": "a method plan"}.items()
}
CALLS |= {
    f"{command} mine.py:{own}": said
    for command in ("simulate WORK --policy", "population WORK --policies", "timeline WORK --out t.svg --policies")
    for own, said in {
        "Failing:SystemExit": r"policy failing: plan raised SystemExit: 0 (mine.py, line 24), at page 'c'",
        "Failing:KeyError":
            r"policy failing: plan raised KeyError: 'no\x1b[2J\nluck\u202e' (mine.py, line 24), at page 'c'",
        "Odd": "policy patient:2: plan must return a Plan, got None, at page 'c'",
    }.items()
}  # fmt: skip
FOLDER_COMMANDS = ("compare", "label", "population", "replay", "tune")


@pytest.mark.parametrize("words", CALLS)
def test_a_wrong_call_is_one_line_with_its_rule_and_writes_nothing(complaint, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LPSM_DATA", str(tmp_path))
    for name, content in CONTENTS.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    Path("evil.sh").chmod(0o755)
    os.mkfifo("PIPE")
    before = sorted(tmp_path.rglob("*")), contents(tmp_path)
    command = words.split()
    if "--out" not in command and command[0] in (*FOLDER_COMMANDS, "pages"):
        command += ["--out", "new"]
    assert CALLS[words] in complaint(*command)
    assert (sorted(tmp_path.rglob("*")), contents(tmp_path)) == before


def test_what_is_required_is_asked_for(complaint, workload):
    assert "Missing option '--out'" in complaint("pages", workload)
