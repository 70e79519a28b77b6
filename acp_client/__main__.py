"""`python -m acp_client` is `subagent`."""

from __future__ import annotations

import sys

from acp_client.cli import main

if __name__ == "__main__":
    sys.exit(main())
