"""The adapters that ship: `reference` in this process, `*_adapter.py` as programs in environments of their own."""
