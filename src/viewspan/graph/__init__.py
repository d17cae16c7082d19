"""From coefficients to labels: graphs between samples, their spectra and their cuts."""
