# %% [markdown]
# # Validate your own implementation
#
# You have a harness of your own. This notebook takes one from the scaffold of an adapter to a fault that was found, looked at, understood, mended and kept from coming back. The harness here is small, and its fault is one that published packages have.
#
# The same commands work in a shell; `foldproof(...)` below runs one and prints what it prints (without the seconds, and the number of vectors, which grows).

# %%
import re
import subprocess
import sys
from pathlib import Path

from foldproof.conformance.exhibits import run_exhibit
from foldproof.report.explorer.notebook import Shown


def foldproof(line):
    words = line.replace("-- python", f"-- {sys.executable}").split()
    done = subprocess.run([sys.executable, "-m", "foldproof", *words], capture_output=True, text=True)
    print(re.sub(r"\d+\.\d (?=s\b)|\d+ of \d+ (?=vectors)", "... ", done.stdout + done.stderr).rstrip())
    print(f"exit code {done.returncode}")


foldproof("scaffold python my_adapter")

# %% [markdown]
# ## The harness
#
# It stores messages and never throws one away. Compaction writes a summary and remembers up to where it reaches; the next request is the summary and what follows. Undo takes the last prompts back. Nothing in it looks wrong.

# %%
HARNESS = """
class Harness:
    def __init__(self):
        self.messages = []
        self.summary = None
        self.cutoff = 0  # the summary speaks for messages[:cutoff]

    def add(self, role, text, prompt):
        self.messages.append({"role": role, "text": text, "prompt": prompt})

    def compact(self, summary):
        self.summary, self.cutoff = summary, len(self.messages)

    def undo(self, count):
        prompts = [i for i, message in enumerate(self.messages) if message["prompt"]]
        if count > len(prompts):
            raise ValueError("there are not so many prompts")
        del self.messages[prompts[-count] :]

    def request(self):
        head = [{"role": "user", "text": self.summary}] if self.summary else []
        return head + [{"role": m["role"], "text": m["text"]} for m in self.messages[self.cutoff :]]
"""
_ = Path("my_adapter/harness.py").write_text(HARNESS)

# %% [markdown]
# ## The adapter
#
# One method an event, each a call of the harness; `observe` returns what can be asked of it. Note what it does *not* do: it keeps no copy and computes nothing. The cutoff is an index into the history that the harness keeps, so it is reported as an *anchor*; with that the tester can check one more invariant.

# %%
ADAPTER = """
from foldproof_adapter import Adapter, Rejected, serve
from harness import Harness


class MyAdapter(Adapter):
    implementation = {"name": "my harness", "language": "python"}
    observes = ("view", "history_length", "anchors")

    def reset(self, config):
        self.harness = Harness()

    def append(self, message):
        self.harness.add(message["role"], message["text"], message["origin"] == "user")

    def undo(self, count):
        try:
            self.harness.undo(count)
        except ValueError as error:
            raise Rejected(str(error)) from error

    def compact(self, summary):
        if not self.harness.messages:
            raise Rejected("nothing to compact")
        self.harness.compact(summary)

    def observe(self):
        return {
            "view": self.harness.request(),
            "history_length": len(self.harness.messages),
            "anchors": [{"name": "cutoff", "value": self.harness.cutoff, "bound": "inclusive"}],
        }


if __name__ == "__main__":
    serve(MyAdapter())
"""
_ = Path("my_adapter/adapter.py").write_text(ADAPTER)

# %% [markdown]
# First ask whether the adapter is alive and honest. A wrong adapter looks just like a wrong harness, and it is the likelier of the two.

# %%
foldproof("smoke -- python my_adapter/adapter.py")

# %% [markdown]
# ## The suite
#
# Named scenarios first, then every script of up to three events, then random ones that are shrunk over the wire.

# %%
foldproof("conform --exhaustive 3 --examples 40 --save faults -- python my_adapter/adapter.py")

# %% [markdown]
# Several findings, but look at them: they are one fault from different sides. A prompt, a compaction, an undo: the cutoff stays behind the end (IDX), and the summary still tells what was taken back (VIEW, *resurrected*). And a prompt that comes after lies
# before the cutoff: it is in no request (VIEW, *hidden*).
#
# ## Look at it
#
# A saved run needs no harness to be judged or shown (`faults.html` shows them all). The model, asked the same, stands beside it.

# %%
saved = sorted(Path("faults").glob("*.jsonl"))
print(*(path.name for path in saved), sep="\n")
hidden = next((path for path in saved if "hidden" in path.name), saved[0])
Shown((run_exhibit(hidden),), "The harness beside the model")

# %% [markdown]
# ## Mend it
#
# What should undo do with a summary of messages that are gone? The kernel's answer: an undo does not go behind the boundary of an epoch; what has been compacted cannot be taken back. (Dropping the summary and showing the old messages again keeps the equation, too; it costs the tokens that were saved.) So the harness refuses.

# %%
MENDED = HARNESS.replace(
    """        del self.messages[prompts[-count] :]
""",
    """        if prompts[-count] < self.cutoff:
            raise ValueError("what has been compacted cannot be undone")
        del self.messages[prompts[-count] :]
""",
)
assert MENDED != HARNESS
Path("my_adapter/harness.py").write_text(MENDED)
foldproof("conform --exhaustive 3 --examples 40 -- python my_adapter/adapter.py")

# %% [markdown]
# *Unchecked* is not *held*: this harness has no trigger and no tasks, so nothing is said of CAL and SYNC.
#
# ## Keep it
#
# The saved runs are regression tests. Their requests are sent to the harness of today, and its answers are judged:

# %%
for path in saved:
    foldproof(f"replay {path} --against --quiet -- python my_adapter/adapter.py")

# %% [markdown]
# In CI, `foldproof conform` with `--junit` or `--markdown` reports the same; the documentation has recipes for GitHub Actions, GitLab and pre-commit.
