"""Everything that shows a result: text, ITF, JUnit, HTML, plots."""
