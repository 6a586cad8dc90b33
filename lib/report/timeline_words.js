// SPDX-License-Identifier: Apache-2.0
// The page's words in both languages, and how numbers are written.
const data = JSON.parse(document.getElementById("data").textContent);
const texts = {
  en: {load: "load", forward: "forward", backward: "backward", gather: "gather gradients", allreduce: "all-reduce",
       reduce: "reduce", send: "send", receive: "receive", exchange: "exchange", allgather: "all-gather",
       update: "update", evaluate: "evaluate", broadcast: "broadcast",
       scatter: "scatter", barrier: "barrier", snapshot: "snapshot", waiting: "waiting", late: "waiting for the last rank",
       rank: "rank", device: "device", iteration: "iteration", start: "start",
       since: "%s after the iteration's begin", last: "last to come: %a, %b after the first",
       cards: ["an iteration", "exposed communication", "waiting for other devices, and the rest",
               "moved by a device in an iteration"],
       columns: ["", "", "computing", "exposed communication", "waiting for the last rank", "hidden communication", "waiting", "moved"],
       of_it_late: ", of these %s waiting for the last rank",
       key: ["computing", "exposed communication: the price of more devices", "waiting in an all-reduce until the last rank has come",
             "hidden communication: while it computes; costs no time", "waiting for other devices, and the rest"],
       saving: "Were all communication and waiting hidden, an iteration would take <b>%a</b> instead of %b: <b>%c ×</b> as fast, and no more.",
       means: "Means over %d iterations%s.", first: ", without the first one, in which kernels are compiled",
       shown: "Iterations %a to %b of %c are shown. ",
       cut: "The event stream of rank %a has no end: the training was stopped, or its disk was full. What is missing here may have happened.",
       help: "Wheel, two fingers or <kbd>W</kbd> <kbd>S</kbd>: zoom. Drag or <kbd>A</kbd> <kbd>D</kbd>: move. " +
             "<kbd>N</kbd> <kbd>P</kbd>: next and previous iteration. <kbd>0</kbd>: all. Double-click: that iteration.",
       rests: "Point at a bar: its name, time and bytes, and who else took part."},
  ja: {load: "データ読込", forward: "順伝播", backward: "逆伝播", gather: "勾配の集約", allreduce: "all-reduce",
       reduce: "reduce", send: "送信", receive: "受信", exchange: "送受信", allgather: "all-gather",
       update: "更新", evaluate: "評価", broadcast: "ブロードキャスト",
       scatter: "分配", barrier: "バリア", snapshot: "スナップショット", waiting: "待ち", late: "最後のランク待ち",
       rank: "ランク", device: "デバイス", iteration: "反復", start: "開始",
       since: "反復の開始から %s", last: "最後に来たのは%a（最初より %b 遅い）",
       cards: ["1 反復の時間", "計算に隠れていない通信", "ほかを待つ時間など", "1 反復に動かすデータ"],
       columns: ["", "", "計算", "隠れていない通信", "最後のランク待ち", "計算に隠れた通信", "待ち", "データ量"],
       of_it_late: "（うち最後のランク待ち %s）",
       key: ["計算", "隠れていない通信：デバイスを増やす代償", "最後のランクが来るまでの、all-reduce の中の待ち", "計算に隠れた通信：時間を取らない",
             "ほかを待つ時間など"],
       saving: "通信と待ちがすべて計算に隠れれば、1 反復は %b から <b>%a</b> に縮まります。これより速くはならず、最大で <b>%c 倍</b>です。",
       means: "%d 反復の平均%s。", first: "（カーネルをコンパイルする最初の反復を除く）",
       shown: "全 %c 反復のうち %a から %b を表示。",
       cut: "ランク %a のイベント記録は途中で切れています。学習が中断されたか、ディスクがいっぱいになりました。ここにないことも、実際には起きた可能性があります。",
       help: "ホイール、二本指、<kbd>W</kbd> <kbd>S</kbd> で拡大・縮小、ドラッグか <kbd>A</kbd> <kbd>D</kbd> で移動。" +
             "<kbd>N</kbd> <kbd>P</kbd> で次・前の反復、<kbd>0</kbd> で全体。ダブルクリックでその反復を表示。",
       rests: "棒を指すと、名前・時間・データ量と、相手の動きがここに出ます。"},
};
const t = key => texts[root.lang][key] || key;
const escape = text => text.replace(/[&<]/g, c => c === "&" ? "&amp;" : "&lt;");

// Compute in blues, communication in reds, whatever its name; the slides have the same colours.
const colours = {load: "#8b98ad", forward: "#1f5f99", backward: "#6fb4e3", update: "#e3a52f", gather: "#c2365b",
                 allreduce: "#c2365b", reduce: "#c2365b", send: "#8a1f45", receive: "#8a1f45", exchange: "#8a1f45",
                 allgather: "#8a1f45", broadcast: "#8a1f45", scatter: "#8a1f45",
                 barrier: "#8a1f45", evaluate: "#c9bfe3", snapshot: "#a58b6f"};
const colour = name => colours[name] || "#8b98ad";
const dark_words = new Set(["backward", "update", "evaluate"]);  // words on these colours are dark

function duration(us) {
  const digits = value => value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  if (us >= 999500) return (us / 1e6).toFixed(digits(us / 1e6)) + " s";
  if (us >= 1000) return (us / 1e3).toFixed(digits(us / 1e3)) + " ms";
  return us < .5 ? "0" : us.toFixed(0) + " µs";
}
function size(bytes) {
  if (bytes < 1024) return bytes.toFixed(0) + " B";
  const kib = bytes / 1024;
  return kib < 1024 ? kib.toFixed(kib < 10 ? 1 : 0) + " KiB" : (kib / 1024).toFixed(kib < 10240 ? 1 : 0) + " MiB";
}
const percent = part => (100 * part).toFixed(part > 0 && part < .0995 ? 1 : 0) + " %";

const one_rank = new Set(data.rows.map(row => row.rank)).size === 1;
/** What a row is called, in one line or two. */
const rowLabel = row => one_rank ? [t("device") + " " + row.device, ""]
                                 : [t("rank") + " " + row.rank, t("device") + " " + row.device];
