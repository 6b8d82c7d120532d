"use strict";
// Draws the figures of the page, and draws them again when the reader chooses what to see.
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const boxes = [...document.querySelectorAll("#choices input")];
  const touch = window.matchMedia("(pointer: coarse)").matches;
  const buttons = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d"]];
  const config = { responsive: true, displaylogo: false, modeBarButtons: buttons };
  const paper = { width: 680, height: 340 };

  const known = new Set(boxes.map((box) => box.value));
  const isShown = (name, chosen) => !known.has(name) || chosen.has(name);

  const some = (list, kept) => (Array.isArray(list) ? list.filter((_, index) => kept[index]) : list);

  const ofTrace = (trace, chosen) => {
    if (trace.meta && trace.meta.choice !== undefined) {
      return { ...trace, visible: isShown(trace.meta.choice, chosen) };
    }
    if (!trace.ids) return trace;
    const kept = trace.ids.map((name) => isShown(name, chosen));
    const result = { ...trace };
    for (const name of ["ids", "x", "y", "text", "customdata"]) result[name] = some(trace[name], kept);
    for (const name of ["error_x", "error_y"]) {
      if (trace[name]) result[name] = { ...trace[name], array: some(trace[name].array, kept) };
    }
    return result;
  };

  const layoutOf = (figure) => {
    const layout = { ...figure.layout, uirevision: "kept", autosize: true };
    if (touch) layout.dragmode = false; // a finger scrolls the page
    return layout;
  };

  const draw = () => {
    const chosen = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const drawn = figures.map((figure) => Plotly.react(
      figure.name, figure.data.map((trace) => ofTrace(trace, chosen)), layoutOf(figure), config,
    ));
    for (const row of document.querySelectorAll("tr[data-choice]")) {
      row.classList.toggle("hidden", !isShown(row.dataset.choice, chosen));
    }
    return Promise.all(drawn);
  };

  for (const box of boxes) box.addEventListener("change", draw);
  for (const button of document.querySelectorAll("#choices button")) {
    button.addEventListener("click", () => {
      for (const box of boxes) box.checked = Boolean(button.dataset.all);
      draw();
    });
  }
  const resize = (width, heightOf) => figures.forEach((figure) => {
    const height = heightOf(figure);
    document.getElementById(figure.name).style.height = `${height}px`;
    Plotly.relayout(figure.name, { width, height, autosize: !width });
  });
  window.addEventListener("beforeprint", () => resize(paper.width, () => paper.height));
  window.addEventListener("afterprint", () => resize(null, (figure) => figure.layout.height));
  draw().then(() => { document.documentElement.dataset.drawn = "yes"; });
})();
