"""The objective: three independent axes and the problem they form.

minimise  Σ_i [ datafit(X_i − X_i Z_i) + λ_i · penalty(Z_i) ] + τ · coupling(Z_1, …, Z_c)
"""
