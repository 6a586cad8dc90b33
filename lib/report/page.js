// SPDX-License-Identifier: Apache-2.0
  // What all pages do: show one language at a time, and draw in the colours of screen, dark screen and paper.
  "use strict";
  const root = document.documentElement;
  const css = name => getComputedStyle(root).getPropertyValue(name).trim();
  const word = both => both[root.lang];
  const narrow = () => innerWidth < 640;
  const onPaper = () => root.classList.contains("paper");
  const letters = () => onPaper() ? 10 : narrow() ? 11 : 13;  // px

  const shows = [];
  /** Calls show(), now and whenever it has to look different. A page may have several. */
  function keepUp(show) {
    shows.push(show);
    if (shows.length > 1) return show();
    const showAll = () => shows.forEach(each => each());
    document.getElementById("language")?.addEventListener("click", () => {
      root.lang = root.lang === "en" ? "ja" : "en";
      showAll();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAll);
    for (const [event, paper] of [["beforeprint", true], ["afterprint", false]])
      addEventListener(event, () => {
        root.classList.toggle("paper", paper);
        showAll();
      });
    if ("anyLanguage" in root.dataset && navigator.language.startsWith("ja")) root.lang = "ja";
    show();
  }

  const charts = [];
  /** Draws charts anew; add() makes one. Where there is no Chart.js, their sections go. */
  function drawCharts(draw) {
    if (!window.Chart) return document.querySelectorAll(".needs-chart").forEach(part => part.remove());
    charts.splice(0).forEach(chart => chart.destroy());
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = onPaper() ? 10 : 13;
    Chart.defaults.color = css("--soft");
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
    Chart.defaults.plugins.legend.position = "bottom";
    Chart.defaults.plugins.legend.labels.color = css("--ink");
    Chart.defaults.scale.grid.color = css("--line");
    draw((canvas, options) => charts.push(new Chart(canvas, options)));
  }
