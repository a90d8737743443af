"use strict";
/* What the page answers to: switches, the run that is looked at, sorting, the theme. Figures are drawn when they come
   into sight, so that a page with hundreds of them is there at once. */

(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const tipBox = document.getElementById("tip");
  const redraws = new Map();

  function tip(event, text) {
    tipBox.hidden = !event;
    if (!event) return;
    tipBox.textContent = text;
    const box = tipBox.getBoundingClientRect();
    tipBox.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4))}px`;
    tipBox.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
  }

  function drawIn(place) {
    if (!place.clientWidth) return;  // hidden: it will come into sight
    place.dataset.drawn = place.dataset.figure;
    place.dataset.width = place.clientWidth;
    redraws.set(place, Charts.draw(place, figures[place.dataset.figure], tip));
  }

  const inSight = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting && target.dataset.drawn !== target.dataset.figure) drawIn(target);
  }, { rootMargin: "600px" });

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (!redraws.has(target) || !target.clientWidth || Number(target.dataset.width) === target.clientWidth) continue;
      target.dataset.width = target.clientWidth;
      redraws.get(target)();
    }
  });

  for (const place of document.querySelectorAll("figure[data-figure]")) {
    inSight.observe(place);
    resized.observe(place);
  }

  addEventListener("beforeprint", () => {
    for (const place of document.querySelectorAll("figure[data-figure]:not([data-drawn])")) drawIn(place);
  });

  function show(place, figure) {
    place.dataset.figure = figure;
    drawIn(place);
  }

  for (const block of document.querySelectorAll(".switch")) {
    const place = block.querySelector("figure"), list = block.querySelector("select");
    const buttons = [...block.querySelectorAll(".choices button[value]")];
    for (const button of buttons) {
      button.addEventListener("click", () => {
        for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
        show(place, button.value);
      });
    }
    list?.addEventListener("change", () => show(place, list.value));
    for (const arrow of block.querySelectorAll("[data-step]")) arrow.addEventListener("click", () => step(list, Number(arrow.dataset.step)));
  }

  function step(list, by) {
    const next = list.selectedIndex + by;
    if (next < 0 || next >= list.options.length) return;
    list.selectedIndex = next;
    list.dispatchEvent(new Event("change"));
  }

  const chosenRun = document.getElementById("run");
  chosenRun?.addEventListener("change", () => {
    for (const part of document.querySelectorAll(".run")) part.hidden = part.dataset.run !== chosenRun.value;
  });
  function openLinked() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1))), part = target?.closest(".run");
    if (!part?.hidden) return;
    chosenRun.value = part.dataset.run;
    chosenRun.dispatchEvent(new Event("change"));
    target.scrollIntoView();
  }
  addEventListener("hashchange", openLinked);
  openLinked();

  for (const arrow of document.querySelectorAll("[data-run-step]")) arrow.addEventListener("click", () => step(chosenRun, Number(arrow.dataset.runStep)));

  for (const table of document.querySelectorAll("table.sortable")) {
    table.querySelectorAll("th").forEach((heading, column) => heading.addEventListener("click", () => sort(table, heading, column)));
  }

  function sort(table, heading, column) {
    const isAscending = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: keyOf(row.cells[column]) }));
    rows.sort((one, other) => compare(one.key, other.key, isAscending));
    table.tBodies[0].append(...rows.map(({ row }) => row));
  }

  function keyOf(cell) {
    return cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent;
  }

  function compare(one, other, isAscending) {
    if ((one === "") !== (other === "")) return one === "" ? 1 : -1;  // what is not known comes last
    const areNumbers = typeof one === "number" && typeof other === "number";
    const order = areNumbers ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
    return isAscending ? order : -order;
  }

  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme ?? system) === "dark" ? "light" : "dark";
  });

  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
