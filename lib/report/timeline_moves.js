// SPDX-License-Identifier: Apache-2.0
// Moving about in the picture: zoom, keys, buttons, and what a span says when it is pointed at.
const margin = (a, b) => [a - (b - a) * .012, b + (b - a) * .012];
const views = {
  one: () => n_iterations ? margin(...timeOf(current)) : [begin, end],
  all: () => n_iterations ? margin(zero, Math.max(end, timeOf(n_iterations - 1)[1])) : [begin, end],
  whole: () => margin(begin, end),
};
let current = Math.min(1, Math.max(0, n_iterations - 1));  // the iteration that "one" shows; the first compiles kernels
let shown = n_iterations > 12 ? "one" : "all";

// Zooming turns a base scale over everything into the scale that is drawn.
function baseScale() { return d3.scaleLinear().domain(views.whole()).range([gutter, width]); }
function showTime(times) {
  const [a, b] = times.map(baseScale()), k = (width - gutter) / (b - a);
  d3.select(canvas).call(zoom.transform, d3.zoomIdentity.translate(gutter - k * a, 0).scale(k));
}
function showView(name) {
  shown = name;
  showTime(views[name]());
}
function showIteration(k) {
  current = Math.max(0, Math.min(n_iterations - 1, k));
  showView("one");
}
/** The next or previous one; from another view, the one in the middle of what is shown. */
function step(by) {
  if (!n_iterations) return;
  if (shown === "one") return showIteration(current + by);
  const middle = (scale.domain()[0] + scale.domain()[1]) / 2;
  showIteration([...Array(n_iterations).keys()].reduce((best, k) =>
    Math.abs(timeOf(k)[0] - middle) < Math.abs(timeOf(best)[0] - middle) ? k : best, 0));
}
function setUpZoom() {
  const kept = shown ? views[shown]() : scale.domain();
  width = picture.clientWidth;
  gutter = Math.max(narrow() ? 72 : 118, widestLabel() + 8);
  zoom = d3.zoom().scaleExtent([1, 1e6])
    .extent([[gutter, 0], [width, height]]).translateExtent([[gutter, 0], [width, height]])
    .on("zoom", event => {
      const {transform, sourceEvent} = event || d3.event;
      if (sourceEvent) shown = null;
      scale = transform.rescaleX(baseScale());
      pointed = null;
      pointAt(null);
      draw();
    });
  d3.select(canvas).call(zoom).on("dblclick.zoom", null);
  showTime(kept);
}

const zoomBy = factor => { shown = null; d3.select(canvas).call(zoom.scaleBy, factor); };
const moveBy = part => {  // of what is shown
  shown = null;
  const k = d3.zoomTransform(canvas).k;
  d3.select(canvas).call(zoom.translateBy, -part * (width - gutter) / k, 0);
};
const keys = {w: () => zoomBy(1.5), "+": () => zoomBy(1.5), "=": () => zoomBy(1.5), s: () => zoomBy(1 / 1.5), "-": () => zoomBy(1 / 1.5),
              a: () => moveBy(-.2), ArrowLeft: () => moveBy(-.2), d: () => moveBy(.2), ArrowRight: () => moveBy(.2),
              n: () => step(1), p: () => step(-1), 0: () => showView("all"), Home: () => showView("whole")};
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const move = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!move) return;
  event.preventDefault();
  move();
}

function spanAt(x, y) {
  const i = data.rows.findIndex((_, k) => y >= top_of(k) && y <= top_of(k) + rowHeight), row = data.rows[i];
  if (!row || x < gutter) return null;
  const lane = y - top_of(i) - pad;
  const near = row.spans.filter(([name, from, length]) => {
    const a = scale(from), at = laneTop(name, 0) - pad;
    return a - 1 <= x && x <= Math.max(a + 2, scale(from + length)) && (behind(name) || (lane >= at - pad && lane <= at + laneHeight + pad));
  });
  return near.length ? {row, span: near.reduce((a, b) => b[2] <= a[2] ? b : a)} : null;
}
const iterationOf = ({row, span}) => row.iterations.findIndex(([a, b]) => a <= span[1] && span[1] <= b);

/** The same step of communication on the other ranks: that of the same name and number in the same iteration. */
function counterparts(one) {
  const k = iterationOf(one);
  if (k < 0 || kinds[one.span[0]] !== "communication") return [];
  const same = row => row.spans.filter(span => span[0] === one.span[0] && iterationOf({row, span}) === k);
  const number = same(one.row).indexOf(one.span);
  return data.rows.filter(row => row.rank !== one.row.rank)
    .map(row => ({row, span: same(row)[number]})).filter(other => other.span);
}
function latecomer(one) {
  const all = [one, ...counterparts(one)].sort((a, b) => a.span[1] - b.span[1]);
  const late = all[all.length - 1], by = late.span[1] - all[0].span[1];
  return by === 0 ? "" : "<br>" + t("last").replace("%a", rowLabel(late.row)[0]).replace("%b", duration(by));
}

function pointAt(found) {
  if ((found && found.span) !== (pointed && pointed.span)) {
    pointed = found;
    draw();
  }
  tip.className = found ? "" : "rests";
  if (!found) return void (tip.textContent = t("rests"));
  const [name, from, length, bytes] = found.span, k = iterationOf(found);
  tip.innerHTML = `<b>${escape(t(data.names[name]))}: ${duration(length)}</b>${rowLabel(found.row).join(" ")}` +
    (k < 0 ? "" : ` · ${t("iteration")} ${data.first_iteration + k + 1} · ` + t("since").replace("%s", duration(from - found.row.iterations[k][0]))) +
    (bytes ? `<br>${size(bytes)}` + (length ? ` · ${(bytes / length / 1e3).toFixed(1)} GB/s` : "") : "") + latecomer(found);
}
function pointAtMouse(event) {
  const box = canvas.getBoundingClientRect();
  pointAt(spanAt(event.clientX - box.left, event.clientY - box.top));
}
function zoomToIterationAt(event) {
  const time = scale.invert(event.clientX - canvas.getBoundingClientRect().left);
  const k = [...Array(n_iterations).keys()].find(k => timeOf(k)[0] <= time && time <= timeOf(k)[1]);
  if (k !== undefined) showIteration(k);
}

function showWords() {
  showFigures();
  const used = new Set(data.rows.flatMap(row => row.spans.map(span => data.names[span[0]])));
  const order = ["load", "forward", "backward", "gather", "allreduce", "update", "send", "evaluate"];
  const names = [...order.filter(name => used.has(name)), ...[...used].filter(name => !order.includes(name))];
  document.getElementById("legend").innerHTML = names.map(name =>
    `<span><i style="background:${colour(name)}"></i>${escape(t(name))}</span>`).join("") +
    (data.rows.some(row => row.late) ? `<span><i style="background:var(--late)"></i>${t("late")}</span>` : "") +
    `<span><i style="background:var(--waiting)"></i>${t("waiting")}</span>`;
  const cut = document.getElementById("cut");
  cut.hidden = data.cut.length === 0;
  cut.textContent = t("cut").replace("%a", data.cut.join(", "));
  const from = data.first_iteration;
  document.getElementById("help").innerHTML = (n_iterations < data.n_iterations
    ? t("shown").replace("%a", from + 1).replace("%b", from + n_iterations).replace("%c", data.n_iterations) : "") + t("help");
}

if (window.d3) {
  addEventListener("resize", setUpZoom);
  document.addEventListener("keydown", onKey);
  canvas.addEventListener("mousemove", pointAtMouse);
  canvas.addEventListener("mouseleave", () => pointAt(null));
  canvas.addEventListener("dblclick", zoomToIterationAt);
  document.querySelectorAll("[data-view]").forEach(button => { button.onclick = () => showView(button.dataset.view); });
  document.querySelectorAll("[data-step]").forEach(button => { button.onclick = () => step(+button.dataset.step); });
  document.querySelectorAll("[data-zoom]").forEach(button => { button.onclick = () => zoomBy(+button.dataset.zoom); });
} else {
  document.getElementById("timeline").remove();
}
keepUp(() => {
  showWords();
  if (window.d3) setUpZoom();
});
