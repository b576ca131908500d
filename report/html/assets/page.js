"use strict";
// Adds to a page that is whole without it: a crosshair that reads all values of
// an instant out of the chart's own table, and tables copied as CSV.

const text = (cell) => cell.textContent.trim();

function csv(table) {
  return [...table.rows].map((row) => [...row.cells].map((cell) => {
    let value = text(cell);
    if (/^-?[\d,]*\.?\d+$/.test(value)) return value.replaceAll(",", "");
    // A spreadsheet must not take a name for a formula.
    if (/^[=+\-@]./.test(value)) value = "'" + value;
    return /[",\n]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value;
  }).join(",")).join("\n") + "\n";
}

async function copy(button, table) {
  try {
    await navigator.clipboard.writeText(csv(table));
    button.textContent = "copied";
  } catch {
    const area = document.createElement("textarea");
    area.value = csv(table);
    document.body.append(area);
    area.select();
    button.textContent = document.execCommand("copy") ? "copied" : "copying is not allowed here";
    area.remove();
  }
  setTimeout(() => { button.textContent = "copy as CSV"; }, 2000);
}

function crosshair(section, chart, table) {
  const readout = section.querySelector(".readout");
  const heads = [...table.tHead.rows[0].cells].map(text);
  const rows = [...table.tBodies[0].rows];
  const half = Number(section.dataset.bucket || 0) / 2;
  const at = rows.map((row) => Number(text(row.cells[0]).replaceAll(",", "")) + half);
  let index = -1, pinned = false;

  const show = (i) => {
    index = Math.max(0, Math.min(rows.length - 1, i));
    const values = [...rows[index].cells].map(text);
    readout.textContent = heads.map((head, j) => head + " " + values[j]).join(" · ") + (pinned ? " (pinned)" : "");
    for (const svg of chart.querySelectorAll("svg[data-x]")) {
      const [left, right, from, to, kind] = svg.dataset.x.split(" ");
      const f = kind === "log" ? Math.log : Number;
      const x = Number(left) + (f(at[index]) - f(Number(from))) / (f(Number(to)) - f(Number(from))) * (right - left);
      const line = svg.querySelector(".cross");
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      svg.classList.add("on");
    }
  };
  const hide = () => {
    readout.textContent = "";
    for (const svg of chart.querySelectorAll("svg")) svg.classList.remove("on");
  };
  const point = (event) => {
    const svg = event.target.closest("svg[data-x]");
    if (!svg) return;
    const [left, right, from, to, kind] = svg.dataset.x.split(" ");
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) * svg.viewBox.baseVal.width / box.width - left) / (right - left);
    const value = kind === "log"
      ? Number(from) * Math.pow(to / from, share)
      : Number(from) + share * (to - from);
    let low = 0, high = at.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at[middle] < value) low = middle + 1; else high = middle;
    }
    show(low > 0 && value - at[low - 1] < at[low] - value ? low - 1 : low);
  };
  chart.addEventListener("pointermove", (event) => { if (!pinned) point(event); });
  chart.addEventListener("pointerleave", () => { if (!pinned) hide(); });
  chart.addEventListener("click", (event) => { pinned = !pinned; point(event); });
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (event.key === "Escape") { pinned = false; hide(); return; }
    if (!step) return;
    event.preventDefault();
    show(index + step);
  });
}

for (const section of document.querySelectorAll("section")) {
  const table = section.querySelector("table");
  const button = section.querySelector(".copy");
  const chart = section.querySelector(".chart");
  if (!table) continue;
  button.hidden = false;
  button.addEventListener("click", () => copy(button, table));
  if (chart && chart.querySelector("svg[data-x]")) crosshair(section, chart, table);
}
