// The studio: scenarios, an editor, what runs, results. `python/thalweg/studio/app.py` answers its requests.

import { mount } from "svelte";
import uplotStyles from "uplot/dist/uPlot.min.css?inline";
import App from "./App.svelte";

const style = document.createElement("style");
style.textContent = uplotStyles;
document.head.append(style);
mount(App, { target: document.getElementById("studio")! });
