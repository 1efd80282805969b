"""Named scenarios with their reasons: the source of the shipped vectors and of the shipped runs."""

from __future__ import annotations

from typing import NamedTuple

from foldproof.conformance.extended_scenarios import EXTENDED

_SPAN = "user reply user open end reply user reply user reply close end"


class Scenario(NamedTuple):
    """A script with the reason why it is worth running."""

    name: str
    reason: str
    script: str


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "plain", "Without spans or compaction the view is the history.", "user reply user reply measure"
    ),
    Scenario("one-span", "A closed span is replaced by one memory.", _SPAN),
    Scenario(
        "undo-into-closed-span",
        "Repro F: an undo into a closed span must reopen it, or its stale memory hides the next prompt.",
        f"{_SPAN} undo1 user reply",
    ),
    Scenario(
        "transition-after-undo",
        "Repro E: after an undo the next transition must be found, though less is stored than was observed.",
        f"{_SPAN} undo1 user open end reply",
    ),
    Scenario(
        "undo-to-open-span",
        "An undo that cuts off the opening call takes the span with it.",
        "user open end reply undo1 user reply",
    ),
    Scenario(
        "undo-after-closed-span",
        "An undo behind a closed span leaves the span alone.",
        f"{_SPAN} user reply undo1 user",
    ),
    Scenario(
        "gauge-after-undo",
        "Repro D: an undo over a folded history rebases the gauge from the view, not from the raw history.",
        f"{_SPAN} user reply measure undo1 user",
    ),
    Scenario(
        "gauge-after-close",
        "A close shrinks the view; a gauge measured before it must not stay.",
        "open end user reply measure close end user",
    ),
    Scenario(
        "gauge-after-next",
        "A next shrinks the view as a close does.",
        "open end user reply measure next end user",
    ),
    Scenario(
        "clear-after-epoch",
        "Repro G: a clear takes the epoch's boundary with it, or all that follows is hidden.",
        "user reply user reply compact user reply clear user reply",
    ),
    Scenario(
        "clear-with-open-span",
        "A clear resets the tree: clamping an open node leaves it without a history.",
        "open end clear user reply",
    ),
    Scenario(
        "clear-after-closed-span",
        "A clear takes closed spans with it.",
        "open end user close end clear user reply",
    ),
    Scenario(
        "transition-after-clear",
        "After a clear the next transition must be found from the start of the history.",
        "user reply open end clear open end user",
    ),
    Scenario(
        "resume-while-pending",
        "A resume commits an interrupted transition whose receipt is stored, or the tree forgets it.",
        "user open restore reply",
    ),
    Scenario(
        "resume-while-closing",
        "A resume commits an interrupted close as well.",
        "open end user reply close restore user",
    ),
    Scenario(
        "resume-with-closed-span",
        "A resumed gauge is the estimate of the view, not of everything that is stored.",
        "open end user reply close end restore user",
    ),
    Scenario(
        "resume-after-compaction",
        "The same after a compaction.",
        "user reply user compact restore user",
    ),
    Scenario(
        "compact-while-pending",
        "A compaction never lands while a transition waits for the end of its step.",
        "open end user close compact2 end user",
    ),
    Scenario(
        "compact-while-opening",
        "The same for an opening call.",
        "user reply open compact2 end reply",
    ),
    Scenario(
        "physical-compaction-over-span",
        "Physical replacement of a prefix translates the tree's indices.",
        "user open end user toggle compact1 toggle user",
    ),
    Scenario(
        "physical-compaction-over-closed-span",
        "Nodes that the replaced prefix held go with it.",
        "open end user close end user toggle compact1 toggle user",
    ),
    Scenario(
        "transition-after-physical-compaction",
        "Replacement shortens the history: the next transition must still be found.",
        "user reply user reply open end toggle compact toggle open end",
    ),
    Scenario(
        "switch-off-while-pending",
        "Switching the fold off settles what is pending first, or it waits for ever.",
        "user open toggle toggle end reply",
    ),
    Scenario(
        "switch-with-closed-span",
        "Switching the fold changes the view, so it rebases the gauge.",
        "open end user reply close end toggle user toggle",
    ),
    Scenario(
        "undo-while-off",
        "A truncation repairs the tree even while the fold is off, or switching it on shows a broken tree.",
        "open end user user close end toggle undo1 toggle user",
    ),
    Scenario(
        "clear-while-off",
        "The same for a clear.",
        "open end user close end toggle clear toggle user",
    ),
    Scenario(
        "nested-spans",
        "Only the outermost closed span is replaced; inner ones speak through it.",
        "user open end user open end reply close end user close end user",
    ),
    Scenario(
        "undo-into-inner-span",
        "An undo that cuts into the inner span reopens both.",
        "open end user open end user reply close end user close end undo2 user",
    ),
    Scenario(
        "undo-between-nested-closes",
        "An undo between the two closes reopens the outer span only.",
        "open end user open end reply close end user close end undo1 user",
    ),
    Scenario(
        "next-chain",
        "Every next closes one span and opens the following at the same carrier.",
        "open end user next end user next end user close end user",
    ),
    Scenario(
        "undo-into-next-chain",
        "An undo that cuts off a next reopens the span that it closed.",
        "open end user next end user next end user undo2 user",
    ),
    Scenario(
        "undo-before-next",
        "An undo to before the first next takes the chain with it.",
        "user open end user reply next end reply undo1 user reply",
    ),
    Scenario(
        "two-epochs",
        "A second compaction writes the state memory anew: nothing is covered twice.",
        "user reply compact user reply compact user",
    ),
    Scenario(
        "state-then-index",
        "A state memory is folded into the index memory that passes it.",
        "user reply compact user freeze user reply freeze user",
    ),
    Scenario(
        "undo-at-epoch-boundary",
        "An epoch boundary is undo's hard boundary: what lies before it is not taken back.",
        "user reply user compact undo1 user",
    ),
    Scenario(
        "undo-behind-epoch",
        "An undo within the current epoch leaves the summary alone.",
        "user reply compact user reply undo1 user",
    ),
    Scenario(
        "span-across-epoch",
        "A span that a compaction covered is not closed by the next epoch's calls.",
        "open end user compact user open end user close end user",
    ),
    Scenario(
        "undo-pending", "A pending transition goes with its carrier.", "user open undo1 end user open end"
    ),
    Scenario(
        "undo-twice",
        "Two undos are the undo to the earlier prompt.",
        "user reply user reply user undo1 undo1 user",
    ),
    Scenario(
        "measure-then-append",
        "A measured gauge grows with what is appended.",
        "user measure reply user measure",
    ),
    Scenario(
        "undo-then-resume",
        "What was undone stays undone after a resume from disk.",
        "user reply user reply undo1 restore user",
    ),
    Scenario(
        "clear-then-resume",
        "What was cleared stays cleared after a resume from disk.",
        "user reply clear restore user",
    ),
    Scenario(
        "compact-with-tail",
        "A compaction that keeps a tail shows all of the tail, once.",
        "user reply user reply compact2 user",
    ),
    Scenario("resume-empty", "A resume of an empty session is empty.", "restore user restore reply"),
    Scenario(
        "undo-past-compaction",
        "An undo past a compaction is refused, or takes back what was summarised as well.",
        "user user compact undo2 user reply",
    ),
    Scenario(
        "undo-into-compacted-past",
        "The same where part of the summarised past stays.",
        "user reply user reply user compact undo2 user reply",
    ),
    Scenario(
        "compact-after-undo",
        "What was undone after a compaction does not come back with the next one.",
        "user reply compact undo1 user reply compact user",
    ),
    Scenario(
        "compact-what-is-left",
        "A compaction is given what is live, not what was live before an undo.",
        "user undo1 reply compact user",
    ),
    Scenario(
        "size-after-undo-behind-compaction",
        "After an undo the size is the view's: the last reply that is left was measured before a compaction.",
        "user user user user reply user compact undo1 user reply",
    ),
    *(Scenario(*one) for one in EXTENDED),
)
"""Every scenario, in the order of the docs."""
