# ruff: noqa: E501 - traces are one line each
"""What the extended machines are pinned to: reachable states, and what breaks without each clause."""

from __future__ import annotations

from typing import NamedTuple

COUNTS = {
    # (machine, bound): (states, transitions, layers)
    ("budget", 3): (3_566, 34_735, 14),
    ("budget", 4): (7_745, 82_158, 15),
    ("pass", 2): (332, 1_420, 20),
    ("pass", 3): (5_629, 26_127, 30),
    ("pass", 4): (62_074, 305_395, 38),
    ("async", 2): (2_067, 15_440, 13),
    ("async", 3): (16_709, 134_635, 15),
    ("memories", 4): (904, 5_143, 12),
    ("memories", 5): (4_727, 31_646, 16),
}

LARGE_COUNTS = {
    ("async", 4): (103_601, 884_316, 16),
    ("budget", 5): (14_788, 168_412, 16),
    ("budget", 6): (25_737, 311_544, 17),
    ("memories", 6): (27_150, 205_755, 20),
}


class Broken(NamedTuple):
    """The least bound at which a missing clause breaks something, and the shortest trace for each invariant."""

    bound: int
    traces: dict[str, str]


NECESSITY: dict[str, dict[str, Broken | None]] = {
    "budget": {
        "B1_view": Broken(
            2,
            {
                "START": "AppendUser; AppendUser; Fold; BeforeStep",
            },
        ),
        "B2_rejected": Broken(
            2,
            {
                "START": "AppendUser; AppendUser; Fold; Rejected",
                "OVERFLOW": "AppendUser; AppendUser; Fold; Rejected",
            },
        ),
        "B3_input": Broken(
            2,
            {
                "INPUT": "AppendUser; AppendUser; BeforeStep; Land(1); SwitchModel; SwitchModel; BeforeStep",
            },
        ),
        "B4_futile": Broken(
            2,
            {
                "QUIET": "AppendUser; AppendUser; BeforeStep; Land(1); BeforeStep",
            },
        ),
        "B5_turn": Broken(
            3,
            {
                "QUIET": "AppendUser; AppendUser; BeforeStep; Land(1); AppendUser; BeforeStep",
            },
        ),
        "B6_replaced": Broken(
            2,
            {
                "DUE": "AppendUser; AppendUser; BeforeStep; Land(1); Undo(1); AppendUser; BeforeStep",
            },
        ),
        "B7_up": Broken(
            2,
            {
                "PAUSED": "AppendUser; AppendUser; BeforeStep; Land(1); SwitchModel",
            },
        ),
        "B7_down": Broken(
            3,
            {
                "DUE": "AppendUser; AppendUser; AppendUser; BeforeStep; SwitchModel; Land(2); SwitchModel; BeforeStep",
            },
        ),
        "B8_resume": Broken(
            2,
            {
                "QUIET": "AppendUser; AppendUser; BeforeStep; Land(1); Restore; BeforeStep",
            },
        ),
        "B9_attempts": Broken(
            2,
            {
                "ATTEMPTS": "AppendUser; AppendUser; Rejected; Fail; Rejected",
            },
        ),
        "B10_single": Broken(
            2,
            {
                "SINGLE": "AppendUser; AppendUser; BeforeStep; BeforeStep",
            },
        ),
        "B11_gauge": Broken(
            1,
            {
                "PUBLISHED": "AppendUser; Fold",
            },
        ),
        "B11_history": Broken(
            1,
            {
                "PUBLISHED": "AppendUser",
            },
        ),
        "B11_tail": Broken(
            1,
            {
                "PUBLISHED": "AfterStep",
            },
        ),
        "B12_reentry": Broken(0, {"REENTRY": "BeforeStep"}),
    },
    "pass": {
        "R1_edges": Broken(
            2,
            {
                "EDGES": "AppendCall; Begin(1); StateDone; Guard; Commit",
            },
        ),
        "R2_frozen": Broken(
            2,
            {
                "FROZEN": "AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit; Crash; Resume; StateDone; Guard; Commit",
                "HOPS": "AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit; Crash; Resume; StateDone; Guard; Commit",
            },
        ),
        "R3_fold": Broken(
            2,
            {
                "VIEW": "AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit",
                "FOOTER": "AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit",
            },
        ),
        "R4_two_hops": Broken(
            3,
            {
                "HOPS": "AppendUser; AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit; Begin(1); StateDone; Guard; Commit",
            },
        ),
        "R5_adopt": Broken(
            2,
            {
                "LAYOUT": "AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit",
            },
        ),
        "R6_own": Broken(
            2,
            {
                "TOLD": "AppendUser; AppendUser; Begin(2); Undo(0); AppendUser; AppendUser; Begin(2); StateDone; LateAnswer; Guard; Commit",
            },
        ),
        "R7_buffered": Broken(
            2,
            {
                "BUFFERED": "AppendUser; AppendUser; LegacyHead(1); Begin(1); Commit",
            },
        ),
        "R8_metric": Broken(
            1,
            {
                "SHRINK": "AppendUser; Begin(1); StateInflates; Guard",
            },
        ),
        "R9_defer": Broken(
            1,
            {
                "DEFER": "AppendUser; Begin(1); StateInflates; Guard; Begin(1)",
            },
        ),
        "R10_left": Broken(
            3,
            {
                "LAYOUT": "AppendUser; AppendUser; AppendUser; Begin(3); StubDone(0); StubDone(1); StateDone; Guard; Commit",
            },
        ),
        "R11_last": Broken(
            2,
            {
                "LAYOUT": "AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit",
                "TOLD": "AppendUser; AppendUser; Begin(2); StubDone(0); StateDone; Guard; Commit",
            },
        ),
        "R12_footer": Broken(
            1,
            {
                "FOOTER": "AppendUser; Begin(1); StateDone; Guard; Commit",
            },
        ),
        "R13_resume": Broken(
            2,
            {
                "LAYOUT": "AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit; Crash; Resume; StateInflates; Guard",
            },
        ),
        "R14_base": Broken(
            2,
            {
                "TOLD": "AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit; Crash; Resume; StateDone; Guard; Commit",
            },
        ),
        "R15_staled": Broken(
            2,
            {
                "TOLD": "AppendUser; AppendUser; Begin(2); StubDone(0); StateDone; Guard; Commit; Crash; Resume; StateDone; Guard; Commit",
            },
        ),
        "R16_cancel": Broken(
            1,
            {
                "VIEW": "AppendUser; Begin(1); Undo(0); StateDone; Guard; Commit",
                "TOLD": "AppendUser; Begin(1); Undo(0); StateDone; Guard; Commit",
            },
        ),
        "R17_boundary": Broken(
            1,
            {
                "VIEW": "AppendUser; Begin(1); StateDone; Guard; Undo(0); Commit",
                "TOLD": "AppendUser; Begin(1); StateDone; Guard; Undo(0); Commit",
            },
        ),
    },
    "async": {
        "A1_mutex": Broken(
            4,
            {
                "SYNC": "Call(open); StepEnd; Call(close); Begin(2); Summarise; Land; StepEnd",
            },
        ),
        "A2_settle": Broken(
            4,
            {
                "SYNC": "Call(open); Abort; Call(open)",
            },
        ),
        "A3_anchor": None,
        "A4_fresh": Broken(
            1,
            {
                "VIEW": "AppendUser; Begin(1); Undo(0); Summarise; Land",
            },
        ),
        "A5_target": Broken(
            2,
            {
                "VIEW": "AppendUser; AppendUser; Begin(1); Summarise; Land",
            },
        ),
        "A6_edge": Broken(
            4,
            {
                "EDGE": "Call(open); StepEnd; Call(close); Begin(2); StepEnd; Summarise; Land",
            },
        ),
    },
    "memories": {
        "M1_ordinals": Broken(
            2,
            {
                "CITE": "AppendUser; AppendUser; Compact(1)",
            },
        ),
        "M2_fresh": None,
        "M3_roll_back": Broken(
            3,
            {
                "VOICE": "Open; AppendUser; Close; Undo(1)",
            },
        ),
        "M4_notes": Broken(
            3,
            {
                "VOICE": "AppendUser; Open; Close; Undo(0); Open; Close",
            },
        ),
        "M5_clear": Broken(
            3,
            {
                "VOICE": "AppendUser; Open; Close; Clear; Open; Close",
            },
        ),
    },
}
