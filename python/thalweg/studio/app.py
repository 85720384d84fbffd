"""The web application of the studio: its page, its requests, and the WebSocket that shows what runs."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import mimetypes
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from .. import papers
from .._points import extent
from .._run_folder import PAGE
from .._text import quoted
from ..errors import ResultError, ScenarioError, without_number
from ..real import emulation_refusal, endpoint_hint
from ..report import network_of_plan
from ..runs import execution
from ..runs.requests import CommandError, check_minimum, check_seed
from ..scenario import Scenario
from .completion import complete
from .files import MAX_SHOWN, Folder, Refused, starter_picture
from .guard import Guard, TooLarge, body_of
from .transfer import TransferActivity
from .work import Hub, PaperActivity, RunActivity, SweepActivity, write_comparison, write_page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp
    from starlette.websockets import WebSocket

    from ..scenario import Plan
    from .work import Activity

LOOKED_S = 0.1
"""Seconds between two looks of a WebSocket at what has changed."""

MAX_NODES = 300
"""A larger network is not drawn beside the editor."""

BESIDE_TEXT = 1.5
"""Factor by which text of that drawing is larger: the drawing has less than half of the usual width."""

RESULT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'self'"
)
"""What a page of results may do in the studio: nothing but show itself. It cannot send requests with the token."""

Json = dict[str, Any]


class Studio:
    """A folder, and what runs in it."""

    def __init__(self, folder: Folder, *, jobs: int | None = None) -> None:
        self.folder = folder
        self.hub = Hub()
        self.jobs = jobs or os.cpu_count() or 1
        """Simulations of a sweep at a time."""
        self.browsers = 0
        """Pages that are open."""

    def check(self, given: Json) -> Json:
        """Diagnostics of a text, and what it describes. The text is kept as a draft."""
        name, text = _text(given, "file"), _text(given, "text")
        self.folder.keep(name, text, str(given.get("starter", "")))
        path = self.folder.scenario(name)
        about: Json | None = None
        try:
            scenario = Scenario.from_toml(text, str(path))
            plan = scenario.plan()
            found = [("warning", problem) for problem in scenario.warnings]
            about = self._about(scenario, plan)
        except ScenarioError as error:
            found = [("error", problem) for problem in error.problems]
        diagnostics = [{"severity": severity, **vars(problem)} for severity, problem in found]
        return {"diagnostics": diagnostics, "about": about}

    def _about(self, scenario: Scenario, plan: Plan) -> Json:
        grid = scenario.tree.get("sweep", {})
        points, seeds = extent(grid)
        nodes = len(plan.layout["nodes"])
        return {
            "title": plan.title,
            "seed": plan.seed,
            "duration_s": plan.duration_s,
            "flows": len(plan.tree.get("flows", [])),
            "links": len(plan.layout["links"]),
            "nodes": nodes,
            "points": points if grid else 0,
            "seeds": seeds,
            "records": bool(plan.tree.get("record", {}).get("series")),
            "emulation": self._emulation(scenario, plan),
            "network": network_of_plan(plan, enlarged=BESIDE_TEXT) if nodes <= MAX_NODES else "",
        }

    @staticmethod
    def _emulation(scenario: Scenario, plan: Plan) -> Json:
        """Whether this can be emulated here, and the reason if not."""
        if not plan.has_real_ends:
            return {"possible": False, "reason": f"no flow has a real endpoint; {endpoint_hint(scenario)}"}
        reason = emulation_refusal()
        return {"possible": reason is None, "reason": reason or ""}

    def run(self, given: Json) -> Activity:
        """Saves the text, and does what `thalweg run` or `thalweg emulate` does with the file."""
        name = _text(given, "file")
        if "text" in given:
            self.folder.save(name, _text(given, "text"))
        path = self.folder.scenario(name)
        self.folder.read(path)
        seed, runs = given.get("seed"), given.get("runs", 1)
        if not isinstance(seed, int | None) or not isinstance(runs, int):
            raise Refused("seed and runs are whole numbers")
        check_seed(seed)
        check_minimum("--runs", runs)
        scenario = Scenario.load(path)
        parent = execution.results_folder(Path(name), self.folder.out)
        words = ["thalweg", "emulate" if given.get("emulate") else "run", quoted(name)]
        words += ["--seed", str(seed)] if seed is not None else []
        if given.get("emulate"):
            plan = scenario.plan(seed)
            location = execution.emulation_location(plan, parent, name_seed=seed is not None)
            return self.hub.start(RunActivity(plan, location, " ".join(words), name, emulated=True))
        whole = "sweep" in scenario.tree and not given.get("once")
        if whole or runs > 1:
            words += ["--runs", str(runs)] if runs > 1 else []
            words += ["--no-sweep"] if "sweep" in scenario.tree and not whole else []
            sweep = execution.create_sweep(scenario, use_grid=whole, seed=seed, runs=runs)
            whole_location = execution.sweep_location(sweep, scenario, parent)
            return self.hub.start(
                SweepActivity(sweep, scenario, whole_location, self.jobs, " ".join(words), name)
            )
        words += ["--no-sweep"] if "sweep" in scenario.tree else []
        plan = scenario.plan(seed)
        return self.hub.start(RunActivity(plan, execution.run_location(plan, parent), " ".join(words), name))

    def reproduce(self, given: Json) -> Activity:
        """Does what `thalweg reproduce` does."""
        name, quick = _text(given, "paper"), bool(given.get("quick"))
        try:
            study = papers.find(name)
        except KeyError as error:
            raise Refused(str(error.args[0])) from error
        if study.only_emulated:
            raise Refused(f"{name} has a real-time part only", f"thalweg reproduce {name}")
        command = f"thalweg reproduce {name}{' --quick' * quick}"
        folder = self.folder.out / name
        return self.hub.start(PaperActivity(study, folder, command, quick=quick, jobs=self.jobs))

    def open_result(self, given: Json) -> Json:
        """The title and the address of the page of a folder of results; a missing page is written."""
        name = _text(given, "folder")
        folder = self.folder.result(name)
        if not (folder / PAGE).is_file():
            write_page(folder)
        return {"page": f"results/{name}/{PAGE}", "title": self.folder.title(folder)}

    def compare(self, given: Json) -> Json:
        """Does what `thalweg compare` does, and gives the address of its page."""
        names = given.get("folders")
        if not isinstance(names, list) or len(names) < 2:
            raise Refused("a comparison needs at least two runs")
        folders = [self.folder.result(str(name)) for name in names]
        page = write_comparison(folders, self.folder.out / "compare.html")
        words = " ".join(quoted(self.folder.name_of(folder)) for folder in folders)
        return {"page": f"results/{page.name}", "command": f"thalweg compare {words}"}

    def papers(self) -> Json:
        """Papers and comparisons that can be reproduced in virtual time."""
        rows = []
        for name in papers.names():
            study = papers.find(name)
            if not study.only_emulated:
                title = str(getattr(study, "title", "") or name)
                rows.append({"name": name, "title": title, "paper": study.of_paper})
        return {
            "papers": sorted(rows, key=lambda row: (not row["paper"], row["name"])),
            "install": papers.INSTALL,
        }


def application(studio: Studio, token: str, hosts: set[str]) -> ASGIApp:
    """The application; only requests with the token in their address, for one of `hosts`, get an answer."""
    api = Requests(studio)
    app = Starlette(
        routes=[
            Route("/", _page),
            WebSocketRoute("/live", api.live),
            Route("/api/gallery", api.get(lambda _: studio.folder.gallery())),
            Route("/api/scenario", api.get(lambda query: studio.folder.open(query("file")))),
            Route("/api/starter", api.get(lambda query: studio.folder.open_starter(query("name")))),
            Route("/api/picture", api.get(lambda query: _picture(studio.folder, query))),
            Route("/api/results", api.get(lambda _: {"results": studio.folder.results()})),
            Route("/api/papers", api.get(lambda _: studio.papers())),
            Route("/api/charts/{number:int}", api.charts),
            Route("/api/check", api.post(studio.check), methods=["POST"]),
            Route("/api/complete", api.post(_complete), methods=["POST"]),
            Route("/api/save", api.post(lambda given: _save(studio.folder, given)), methods=["POST"]),
            Route("/api/run", api.post(lambda given: _id(studio.run(given))), methods=["POST"]),
            Route("/api/stop", api.post(lambda given: _stop(studio.hub, given)), methods=["POST"]),
            Route("/api/reproduce", api.post(lambda given: _id(studio.reproduce(given))), methods=["POST"]),
            Route("/api/open", api.post(studio.open_result), methods=["POST"]),
            Route("/api/compare", api.post(studio.compare), methods=["POST"]),
            Route("/results/{path:path}", api.result),
            Route("/activity/{number:int}/{path:path}", api.file_of_activity),
        ]
    )
    app.router.redirect_slashes = False
    return Guard(app, token, hosts)


class Requests:
    """The requests of the page: JSON both ways; mistakes are objects with `error`."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def get(self, answer: Callable[[Callable[[str], str]], Json]) -> Callable[[Request], Awaitable[Response]]:
        """A request without a body; `answer` gets a function that looks up a parameter of the address."""

        async def handle(request: Request) -> Response:
            def query(name: str) -> str:
                return request.query_params.get(name, "")

            return await _answered(lambda: answer(query))

        return handle

    def post(self, answer: Callable[[Json], Json]) -> Callable[[Request], Awaitable[Response]]:
        """A request with a JSON object as its body."""

        async def handle(request: Request) -> Response:
            try:
                given = json.loads(await body_of(request))
                if not isinstance(given, dict):
                    raise ValueError("not an object")
            except TooLarge as error:
                # the rest of the body is not read
                return _error(str(error), error.hint, status=413, close=True)
            except ValueError as error:
                return _error(f"the request is not JSON: {error}")
            except RecursionError:
                return _error("the request is nested too deeply")
            return await _answered(lambda: answer(given))

        return handle

    async def charts(self, request: Request) -> Response:
        """The charts of a run or a transfer so far."""

        def read() -> Json:
            activity = self.studio.hub.find(request.path_params["number"])
            if not isinstance(activity, RunActivity | TransferActivity):
                raise Refused("only runs and transfers have charts")
            return activity.charts()

        return await _answered(read)

    async def result(self, request: Request) -> Response:
        """A file below `out`."""
        try:
            return _file(self.studio.folder.result(request.path_params["path"]))
        except Refused as error:
            return _error(str(error), error.hint, status=404)

    async def file_of_activity(self, request: Request) -> Response:
        """A file in the folder of an activity, which need not be below `out`."""
        try:
            activity = self.studio.hub.find(request.path_params["number"])
        except Refused as error:
            return _error(str(error), error.hint, status=404)
        if not activity.has_page:
            return _error("this activity has no page", status=404)
        folder = activity.folder
        path = folder / request.path_params["path"]
        if folder.resolve() not in path.resolve().parents:
            return _error("not in the folder of this activity", status=404)
        return _file(path)

    async def live(self, socket: WebSocket) -> None:
        """Sends what has changed, until the browser leaves."""
        await socket.accept()
        self.studio.browsers += 1
        left = asyncio.create_task(_left(socket))
        seen = -1
        try:
            while not left.done():
                version, changed = self.studio.hub.changes(max(seen, 0))
                if version != seen:
                    await socket.send_json({"activities": changed})
                    seen = version
                await asyncio.wait([left], timeout=LOOKED_S)
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            left.cancel()
            self.studio.browsers -= 1


async def _left(socket: WebSocket) -> None:
    """Returns when the browser has left; it says nothing."""
    try:
        while True:
            await socket.receive_text()
    except (WebSocketDisconnect, RuntimeError, KeyError):
        return


async def _answered(answer: Callable[[], Json]) -> Response:
    """The answer of a function, which is called in another thread; its errors are messages."""
    try:
        return JSONResponse(await run_in_threadpool(answer))
    except ScenarioError as error:
        diagnostics = [vars(problem) for problem in error.problems]
        return _error("the scenario has mistakes", status=422, diagnostics=diagnostics)
    except TooLarge as error:
        return _error(str(error), error.hint, status=413)
    except CommandError as error:
        return _error(error.message, error.hint)
    except Refused as error:
        return _error(str(error), error.hint)
    except (ResultError, UnicodeError) as error:
        return _error(str(error))
    except OSError as error:
        said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return _error(without_number(said), status=404 if isinstance(error, FileNotFoundError) else 400)


def _error(
    message: str, hint: str | None = None, *, status: int = 400, close: bool = False, **more: Any
) -> Response:
    headers = {"connection": "close"} if close else None
    return JSONResponse({"error": {"message": message, "hint": hint, **more}}, status, headers)


def _text(given: Json, key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str):
        raise Refused(f"{key} is missing")
    return value


def _id(activity: Activity) -> Json:
    return {"id": activity.number}


def _stop(hub: Hub, given: Json) -> Json:
    number = given.get("id")
    if not isinstance(number, int):
        raise Refused("id is missing")
    hub.find(number).stop()
    return {"id": number}


def _save(folder: Folder, given: Json) -> Json:
    path = folder.save(_text(given, "file"), _text(given, "text"), starter=str(given.get("starter", "")))
    return {"file": folder.name_of(path)}


def _complete(given: Json) -> Json:
    return complete(_text(given, "before"), _text(given, "after"))


def _picture(folder: Folder, query: Callable[[str], str]) -> Json:
    name = query("starter")
    return {"picture": starter_picture(name) if name else folder.picture(query("file"))}


def _file(path: Path) -> Response:
    # false also for a name that no file can have
    if not os.path.isfile(path):
        return _error(f"{path.name[:MAX_SHOWN]}: no such file", status=404)
    headers = {"content-security-policy": RESULT_POLICY}
    if path.suffix == ".html":
        return FileResponse(path, media_type="text/html; charset=utf-8", headers=headers)
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return FileResponse(path, media_type=kind, filename=path.name, headers=headers)


async def _page(_request: Request) -> Response:
    """The page of the studio: one file, which `web/` builds."""
    text, policy = _page_text()
    return HTMLResponse(text, headers={"content-security-policy": policy})


@cache
def _page_text() -> tuple[str, str]:
    """The page, and the policy under which only its own scripts run."""
    text = files(__package__).joinpath("studio.html").read_text(encoding="utf-8")
    digests = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    )
    policy = (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; connect-src 'self'; img-src data: blob:; "
        "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return text, policy
