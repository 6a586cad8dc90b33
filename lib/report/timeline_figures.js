// SPDX-License-Identifier: Apache-2.0
// The figures above the picture, and the table below it.
const trained = data.rows.filter(row => row.iteration > 0);
const mean = key => trained.reduce((sum, row) => sum + row[key], 0) / Math.max(1, trained.length);

// What is hidden is a part of the time in which it computes.
const parts = {compute: row => row.compute - row.hidden, exposed: row => row.exposed - row.late, late: row => row.late,
               hidden: row => row.hidden, waiting: row => row.waiting};
const background = {compute: "var(--compute)", exposed: "var(--communication)", late: "var(--late)", hidden: "var(--hidden)",
                    waiting: "var(--waiting)"};
const ink = {hidden: "dark", late: "late", waiting: "late"};

function stack(row) {
  return '<div class="stack">' + Object.keys(parts).map(key => {
    const part = parts[key](row) / row.iteration;
    return `<div class="${ink[key] || ""}" style="width:${100 * part}%;background:` +
      `${background[key]}">${part >= .12 ? percent(part) : ""}</div>`;
  }).join("") + "</div>";
}

function showCards() {
  const whole = mean("iteration") || 1;
  const figures = [duration(mean("iteration")), percent(mean("exposed") / whole), percent(mean("waiting") / whole),
                   size(mean("bytes"))];
  document.getElementById("cards").innerHTML = figures.map((figure, i) =>
    `<div class="card${i === 1 ? " loss" : ""}"><b>${figure.replace(/ (\S+)$/, " <small>$1</small>")}</b>` +
    `<span>${t("cards")[i]}${i === 1 && mean("late") ? t("of_it_late").replace("%s", percent(mean("late") / whole)) : ""}</span></div>`).join("");
}

function showFigures() {
  showCards();
  document.getElementById("shares").innerHTML =
    "<tr>" + t("columns").map(text => `<th>${text}</th>`).join("") + "</tr>" +
    trained.map(row => `<tr><td>${rowLabel(row).join(" ")}</td><td class="share">${stack(row)}</td>` +
      [row.compute, ...["exposed", "late", "hidden", "waiting"].map(key => parts[key](row))].map(duration).concat(size(row.bytes))
        .map((figure, i) => `<td data-name="${t("columns")[i + 2]}">${figure}</td>`).join("") + "</tr>").join("");
  const whole = mean("iteration"), best = Math.max(0, ...trained.map(row => row.compute));  // the slowest device computes longest
  document.getElementById("saving").innerHTML = !best || data.rows.length < 2 ? "" :
    t("saving").replace("%a", duration(best)).replace("%b", duration(whole)).replace("%c", (whole / best).toFixed(2));
  const n = trained.length ? trained[0].iterations.length : 0;
  const skips = data.first_iteration === 0 && n > 1;
  document.getElementById("key").innerHTML = Object.keys(parts).map((key, i) =>
    `<span><i style="background:${background[key]}"></i>${t("key")[i]}</span>`).join("") +
    "<span>" + t("means").replace("%d", n - skips).replace("%s", skips ? t("first") : "") + "</span>";
}
