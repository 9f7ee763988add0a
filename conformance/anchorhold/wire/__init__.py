"""The wire protocol of PROTOCOL.md, seen from the suite: messages, the program behind them, and its compactor."""
