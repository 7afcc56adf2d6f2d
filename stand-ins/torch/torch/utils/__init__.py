"""Stands in for `torch.utils`, of which only the building of extensions is here."""
