"""Graphs between samples, their spectra and their cuts into clusters."""
