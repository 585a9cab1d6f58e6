"""Run the command line with `python -m argocd_fluid`."""

import sys

from argocd_fluid.cli import main

sys.exit(main())
