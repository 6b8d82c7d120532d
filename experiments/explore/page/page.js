"use strict";
// Controls on one side, the answer on the other.  The address carries what is not at its start; a change asks anew, and
// hangs up on the question before it, so that nothing is computed that nobody waits for.

const REFERENCES = { limit: "lower limit", "page-awake": "awake while a page loads" };
const PAUSE_MS = 120, BURST_MS = 1500; // before a question; changes of one control that are one step back
const find = query => document.querySelector(query);
const form = find("form"), answer = find("#answer");
let controls, asking, pause, last = { name: "", at: 0 }, shown;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function build() {
  for (const [name, [words, low, high, step]] of Object.entries(controls.numbers)) {
    const field = element("input", { type: "number", name, id: name, step: "any", min: low, max: high, required: true });
    const slider = element("input", { type: "range", id: `${name}-slider`, min: low, max: high, step });
    slider.setAttribute("aria-label", words);
    slider.addEventListener("input", () => { field.value = slider.value; });
    field.addEventListener("input", () => { slider.value = field.value; });
    form.append(element("div", { className: "number" }, element("label", { htmlFor: name, textContent: words }), slider, field));
  }
  const first = form.firstElementChild;
  for (const [name, [words, among]] of Object.entries(controls.choices)) {
    const list = element("select", { name, id: name }, ...among.map(one => element("option", { textContent: one })));
    form.insertBefore(element("div", { className: "choice" }, element("label", { htmlFor: name, textContent: words }), list), first);
  }
  const boxes = Object.entries(controls.policies).map(([value, words]) => element("label", {},
    element("input", { type: "checkbox", name: "policies", value }), words === value ? value : `${words} (${value})`));
  form.append(element("fieldset", {}, element("legend", { textContent: "Policies" }), ...boxes));
  if (controls.trace) find("#traffic").textContent = `Traffic: ${controls.trace}`;
}

function settings() { // of the controls, what is not at its start
  const said = new URLSearchParams(), start = controls.start;
  for (const name of [...Object.keys(controls.choices), ...Object.keys(controls.numbers)]) {
    if (form[name].value !== String(start[name])) said.set(name, form[name].value);
  }
  const chosen = [...form.querySelectorAll(":checked[name=policies]")].map(one => one.value);
  const inOrder = [...start.policies.filter(one => chosen.includes(one)), ...chosen.filter(one => !start.policies.includes(one))];
  if (inOrder.join() !== start.policies.join()) said.set("policies", inOrder.join());
  return said.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
}

function place() { // the controls where the address says
  const said = new URLSearchParams(location.search), start = controls.start;
  for (const name of Object.keys(controls.numbers)) {
    form[name].value = said.get(name) ?? start[name];
    find(`#${name}-slider`).value = form[name].value;
  }
  for (const name of Object.keys(controls.choices)) form[name].value = said.get(name) ?? start[name];
  const named = said.has("policies") ? said.getAll("policies").join().split(",") : start.policies;
  for (const box of form.querySelectorAll("[name=policies]")) box.checked = named.includes(box.value);
  for (const value of named.filter(one => one && one !== "none" && !controls.policies[one] && one !== "psm:100")) {
    const box = element("input", { type: "checkbox", name: "policies", value, checked: true });
    controls.policies[value] = value;
    find("fieldset").append(element("label", {}, box, value));
  }
  if (named.includes("psm:100")) form.querySelector("[value=psm]").checked = true;
  dim();
}

function dim() { // recorded servers have times, and a recording its round trip, of their own
  const recorded = form.server.value === "recorded";
  for (const [name, off] of [["server_s", recorded], ["rtt_ms", recorded && controls.trace]]) {
    form[name].disabled = find(`#${name}-slider`).disabled = Boolean(off);
  }
}

function changed(event) {
  dim();
  const { name, id } = event.target, now = Date.now(), query = settings();
  const same = (name || id) === last.name && now - last.at < BURST_MS;
  history[same ? "replaceState" : "pushState"](null, "", query ? `?${query}` : location.pathname);
  last = { name: name || id, at: now };
  clearTimeout(pause);
  pause = setTimeout(ask, PAUSE_MS);
}

function complain(words) {
  find("#complaint").hidden = !words;
  find("#complaint").textContent = words;
  find("#status").hidden = true;
}

async function ask() {
  asking?.abort();
  const mine = asking = new AbortController();
  answer.classList.add("old");
  try {
    const reply = await fetch(`/answer${location.search}`, { signal: mine.signal });
    if (!reply.ok) return complain(await reply.text());
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "", part;
    while (!(part = await reader.read()).done) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (mine === asking) tell(JSON.parse(line));
    }
    if (mine === asking && !find("#status").hidden) complain("The program ended before the answer: start it again, and reload this page.");
  } catch (error) {
    if (mine === asking) complain(`The program that computes this page does not answer: start lpsm explore again, and reload. (${error.message})`);
  }
}

function tell(found) {
  if (found.error) return complain(found.error);
  if (found.summary) return show(found);
  complain("");
  find("#status").hidden = false;
  find("progress").value = found.of ? found.done / found.of : 0;
  find("#status span").textContent = found.of ? `${found.done} of ${found.of} runs` : found.doing;
}

function show(found) {
  if (found.whole) complain("");
  shown = found;
  answer.hidden = false;
  answer.classList.remove("old");
  const row = (kind, cells) => element("tr", {}, element("th", { textContent: cells[0] }), ...cells.slice(1).map(one => element(kind, { textContent: one })));
  const body = element("tbody", {}, ...found.table.map(cells => row("td", cells)));
  found.summary.forEach((one, place) => {
    body.rows[place].cells[0].style.borderLeft = `6px solid ${found.looks[one.policy]?.colour ?? "transparent"}`;
    if (one.policy === found.best) body.rows[place].className = "best";
  });
  find("table").replaceChildren(element("thead", {}, row("th", found.header)), body);
  find("pre").textContent = found.command;
  const best = found.summary.find(one => one.policy === found.best);
  find("#best").textContent = best
    ? `${found.best} needs least within the limits: ${power(best)}, ${Math.round(best.battery_h)} h on this battery.`
    : "No policy that saves power keeps the limits.";
  draw();
}

const power = one => controls.timed ? `${one.mean_mw.toPrecision(3)} mW` : `${one.total_j_per_page.toPrecision(3)} J a page`;

function draw() {
  if (!shown || !window.Plotly) return; // whichever comes last, the answer or the library, draws
  const style = getComputedStyle(document.body), ink = style.color, narrow = innerWidth < 500;
  const [quantity, unit] = controls.timed ? ["mean_mw", "mW"] : ["total_j_per_page", "J a page"];
  const seen = colour => ["#000000", "#1a1a1a"].includes(colour) ? ink : colour; // black, where the page is dark
  const rows = shown.summary.filter(one => shown.looks[one.policy]);
  const waits = [["slowdown_mean", "mean slowdown", form.max_slowdown.value], ["added_delay_p95_s", "added delay of messages, p95 [s]", form.max_late_s.value],
    ["datagram_delay_p95_s", "delay of datagrams, p95 [s]", form.max_late_s.value]];
  const [wait, words, most] = waits.find(([name]) => rows.some(one => one[name] !== null && one[name] !== undefined)) ?? waits[0];
  const axis = { color: ink, gridcolor: style.getPropertyValue("--line"), zeroline: false, automargin: true };
  const layout = {
    paper_bgcolor: style.backgroundColor, plot_bgcolor: style.backgroundColor, font: { color: ink, size: 13 }, hovermode: "closest",
    margin: { l: 60, r: 15, t: 36, b: 50 }, showlegend: !narrow, // whose colours stand in the table
    modebar: { bgcolor: "transparent", color: ink },
  };
  const settings = { responsive: true, displaylogo: false, displayModeBar: narrow ? false : "hover", modeBarButtonsToRemove: ["select2d", "lasso2d", "sendChartToCloud"], toImageButtonOptions: { filename: "lpsm", scale: 2 } };
  const hover = one => `<b>${shown.looks[one.policy].label}</b><br>${one.total_j_per_page.toPrecision(4)} J a page<br>` +
    `${one.mean_mw.toPrecision(4)} mW, ${Math.round(one.battery_h)} h<br>${words} ${one[wait]?.toPrecision(4)}`;
  const front = rows.map(one => ({
    x: [one[quantity]], y: [one[wait]], name: shown.looks[one.policy].label, mode: "markers", hoverinfo: "text", text: [hover(one)],
    marker: { color: seen(shown.looks[one.policy].colour), symbol: shown.looks[one.policy].symbol, size: 12, line: { width: one.policy.startsWith("none") ? 0 : 1, color: seen(shown.looks[one.policy].colour) } },
    error_x: { array: [one[`${quantity}_half_width`]], thickness: 1, color: seen(shown.looks[one.policy].colour) },
    error_y: { array: [one[`${wait}_half_width`]], thickness: 1, color: seen(shown.looks[one.policy].colour) },
  }));
  const levels = shown.summary.filter(one => REFERENCES[one.policy] && one[quantity] > 0);
  const line = (along, at, dash) => ({ type: "line", [`${along}0`]: at, [`${along}1`]: at, [along === "x" ? "y0" : "x0"]: 0, [along === "x" ? "y1" : "x1"]: 1,
    [along === "x" ? "yref" : "xref"]: "paper", line: { color: ink, width: 1, dash }, layer: "below" });
  Plotly.react("front", front, { ...layout,
    xaxis: { ...axis, type: "log", title: { text: unit }, dtick: "D2", minexponent: 4 }, yaxis: { ...axis, title: { text: words } },
    shapes: [line("y", Number(most), "dash"), ...levels.map((one, place) => line("x", one[quantity], place ? "dashdot" : "dot"))],
    annotations: levels.map((one, place) => ({ x: Math.log10(one[quantity]), y: 1 - 0.07 * place, yref: "paper", text: REFERENCES[one.policy], showarrow: false, xanchor: "left", font: { size: 11 } }))
      .concat([{ x: 1, xref: "paper", y: Number(most), text: "limit", showarrow: false, yanchor: "bottom", xanchor: "right", font: { size: 11 } }]),
  }, settings);
  const saving = rows.filter(one => one.policy !== "none"), bars = saving.length ? saving : rows;
  const scale = one => controls.timed ? 1000 / one.elapsed_s_per_page : 1;
  const energy = shown.parts.map(([name, words, color]) => ({
    type: "bar", orientation: "h", name: words, x: bars.map(one => one[name] * scale(one)), y: bars.map(one => shown.looks[one.policy].label),
    marker: { color: seen(color), line: { color: ink, width: 0.5 } }, hovertemplate: `%{y}, ${words}: %{x:.4g} ${unit}<extra></extra>`,
  })).filter(one => one.x.some(Boolean));
  Plotly.react("energy", energy, { ...layout, barmode: "stack", showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" }, margin: { ...layout.margin, t: narrow ? 70 : 44 },
    xaxis: { ...axis, title: { text: unit } }, yaxis: { ...axis, autorange: "reversed" } }, settings);
}

function save(name, address) {
  element("a", { href: address, download: name }).click();
}

form.addEventListener("change", changed);
form.addEventListener("submit", event => event.preventDefault());
addEventListener("popstate", () => { place(); last.name = ""; ask(); });
find("[src^='/plotly']").addEventListener("load", draw);
for (const name of ["front", "energy"]) {
  find(`#save-${name}`).addEventListener("click", () => Plotly.downloadImage(name, { format: "png", filename: `lpsm-${name}`, width: 1000, height: 640, scale: 2 }));
}
find("#save-table").addEventListener("click", () => {
  const address = URL.createObjectURL(new Blob([shown.csv], { type: "text/csv" }));
  save("lpsm-explored.csv", address);
  setTimeout(() => URL.revokeObjectURL(address), 1000);
});
fetch("/controls").then(reply => reply.json()).then(found => {
  controls = found;
  build();
  place();
  ask();
}).catch(error => complain(`The program that serves this page does not answer. (${error.message})`));
