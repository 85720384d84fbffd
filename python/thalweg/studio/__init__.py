"""The studio: a web application on this host that edits, runs and watches scenarios. `thalweg studio` starts it.

It needs Starlette, uvicorn and websockets: `pip install thalweg[studio]`. It does the work of the commands: runs land in the
same folders, and pages of results are theirs.
"""
