"""Sliders and buttons around an experiment: explorer.py (what happens), panel.py (the layout), knobs.py (controls)."""
