"""The named scenarios of the extensions: lines of one session, an exchange taken out, an answer replaced.

They concern an implementation that lists the events they use (`foldproof.conformance.protocol`).
"""

from __future__ import annotations

EXTENDED: tuple[tuple[str, str, str], ...] = (
    (
        "lines-are-apart",
        "What is said in one line of a session is not seen in another.",
        "user reply branch user reply switch user reply switch",
    ),
    (
        "line-without-last-prompt",
        "A line that goes back before a prompt leaves the other line whole.",
        "user reply user reply branch1 user reply switch user",
    ),
    (
        "compaction-in-one-line",
        "A compaction belongs to its line: the other keeps its messages.",
        "user reply user reply branch1 user compact switch user reply compact switch",
    ),
    (
        "compaction-after-going-back",
        "A compaction in a new line is not given what the line left behind.",
        "user reply user reply branch1 reply compact user",
    ),
    (
        "line-of-a-compacted-session",
        "A line of a compacted session has its summary, and loses nothing when it goes back.",
        "user reply compact user reply branch1 user switch user branch user",
    ),
    (
        "resume-in-a-line",
        "A resume is on the line that the session was on, and the others are still there.",
        "user reply user branch1 reply restore compact switch restore user reply",
    ),
    (
        "undo-in-a-line",
        "An undo belongs to its line, and so does a clear of what it held.",
        "user reply user branch undo2 user switch user undo1 switch clear user",
    ),
    (
        "exchange-removed",
        "An exchange that is taken out of the past is gone, the rest stays in order.",
        "user reply user reply user remove reply remove restore",
    ),
    (
        "exchange-removed-after-compaction",
        "An exchange taken out of what is summarised does not stay in the summary, or shift what is kept.",
        "user reply user reply user compact remove user reply",
    ),
    (
        "exchange-removed-then-compacted",
        "A compaction is not given an exchange that was taken out, nor an old summary of it.",
        "user reply user reply remove compact user reply compact",
    ),
    (
        "answer-replaced",
        "A new answer stands in the place of the old one.",
        "user reply regenerate user reply regenerate regenerate restore",
    ),
    (
        "older-answer-replaced",
        "A new answer to an older prompt leaves what was said since as it is.",
        "user reply user reply regenerate1 user reply regenerate1 restore",
    ),
    (
        "older-answer-replaced-after-compaction",
        "An older answer that was summarised cannot be replaced and stay in the summary.",
        "user reply user reply compact user reply regenerate1 user reply compact",
    ),
    (
        "answer-replaced-after-compaction",
        "An answer that was summarised cannot be replaced and stay in the summary.",
        "user reply user reply compact regenerate user reply compact",
    ),
)
"""Name, reason and script of each."""
