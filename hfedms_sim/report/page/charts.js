"use strict";
/* Draws the panels of exhibits.py as SVG, in the colours of the page's theme. A figure is drawn anew when its width
   changes. All text is set as text: a name of a scenario, cell or radio can never become markup. */

const Charts = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const COLOURS = 8;
  const DASHES = { solid: "", dashed: "6 4", dotted: "2 3" };
  const SIGNS = { dot: "●", cross: "✕", triangle: "▲" };
  const FAINT = 0.35;
  const FIXED = { uplink: 0, downlink: 1, work: 2, waiting: 5, lost: 6 };  /* the same colours in every figure */
  const LONGEST_LABEL = 28, NARROW = 480;
  const HEIGHT = 260;
  const LANE = 13, LEAST_LANE = 5, MANY_LANES = 60;
  const MARGIN = { top: 22, right: 14, bottom: 36, left: 54 };

  function element(tag, attributes = {}, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function html(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  /* ------------------------------------------------------------------------------------------------- numbers */

  function shown(value) {
    if (value === null || value === undefined) return "";
    const size = Math.abs(value);
    if (size >= 1e6 || (size > 0 && size < 1e-3)) return value.toExponential(2).replace("e+", "e");
    return size >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(4)));
  }

  function ticks(low, high, count) {
    const rough = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((each) => each * power >= rough);
    const found = [];
    for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number++) found.push(number * step);
    return found;
  }

  function logTicks(low, high, count) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    if (last - first < 1) return ticks(low, high, count);
    const every = Math.ceil((last - first + 1) / Math.max(2, count));
    const found = [];
    for (let power = first; power <= last; power += every) found.push(10 ** power);
    return found;
  }

  function scale(values, from, to, { log = false, zero = false, limits = [null, null] } = {}) {
    const known = values.filter((value) => value !== null && (!log || value > 0));
    let low = known.length ? known.reduce((a, b) => Math.min(a, b)) : log ? 1 : 0;
    let high = known.length ? known.reduce((a, b) => Math.max(a, b)) : log ? 10 : 1;
    if (zero && !log) { low = Math.min(0, low); high = Math.max(0, high); }
    low = limits[0] ?? low;
    high = limits[1] ?? high;
    if (low === high) { high = log ? low * 10 : low + (Math.abs(low) || 1); }
    const turned = log ? Math.log10 : (value) => value;
    const place = (value) => from + (to - from) * (turned(value) - turned(low)) / (turned(high) - turned(low));
    const back = (spot) => {
      const value = turned(low) + (turned(high) - turned(low)) * (spot - from) / (to - from);
      return log ? 10 ** value : value;
    };
    const count = Math.max(2, Math.abs(to - from) / (to > from ? 80 : 45));
    return Object.assign(place, { low, high, back, ticks: (log ? logTicks : ticks)(low, high, count) });
  }

  /* ---------------------------------------------------------------------------------------------------- axes */

  function frame(width, height, margin = MARGIN) {
    return { width, height, left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom };
  }

  function canvas(area, title) {
    return element("svg", { viewBox: `0 0 ${area.width} ${area.height}`, height: area.height, role: "img", "aria-label": title });
  }

  function drawAxes(svg, area, x, y, panel) {
    for (const value of y ? y.ticks : []) {
      svg.append(element("line", { class: "grid", x1: area.left, x2: area.right, y1: y(value), y2: y(value) }));
      svg.append(element("text", { x: area.left - 6, y: y(value) + 4, "text-anchor": "end" }, shown(value)));
    }
    for (const value of x ? x.ticks : []) {
      svg.append(element("line", { class: "axis", x1: x(value), x2: x(value), y1: area.bottom, y2: area.bottom + 4 }));
      svg.append(element("text", { x: x(value), y: area.bottom + 16, "text-anchor": "middle" }, shown(value)));
    }
    svg.append(element("line", { class: "axis", x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom }));
    if (panel.yLabel) svg.append(element("text", { x: 2, y: 12 }, panel.yLabel));
    if (panel.xLabel) svg.append(element("text", { x: area.right, y: area.height - 4, "text-anchor": "end" }, panel.xLabel));
  }

  function drawMarks(svg, area, x, y, marks) {
    for (const { axis, value, label } of marks) {
      const scaled = axis === "x" ? x : y;
      if (value < scaled.low || value > scaled.high) continue;
      const at = scaled(value);
      const ends = axis === "x" ? { x1: at, x2: at, y1: area.top, y2: area.bottom } : { x1: area.left, x2: area.right, y1: at, y2: at };
      svg.append(element("line", { class: "mark", ...ends }));
      if (label) svg.append(element("text", axis === "x" ? { x: at + 3, y: area.top + 10 } : { x: area.right, y: at - 3, "text-anchor": "end" }, label));
    }
  }

  /* --------------------------------------------------------------------------------------------------- panels */

  function drawLines(panel, look, width, tip) {
    const area = frame(width, HEIGHT), svg = canvas(area, panel.title);
    const series = panel.series.filter((line) => look.isShown(line.label));
    const marks = panel.marks.filter((mark) => mark.axis === "y").map((mark) => mark.value);
    const x = scale(series.flatMap((line) => line.x), area.left, area.right, { log: panel.logX, limits: panel.xLimits });
    const y = scale([...series.flatMap((line) => [...line.y, ...line.low, ...line.high]), ...marks], area.bottom, area.top, { log: panel.logY, zero: true, limits: panel.yLimits });
    drawAxes(svg, area, x, y, panel);
    drawMarks(svg, area, x, y, panel.marks);
    const isDrawn = (line, index, values) => values[index] !== null && (!panel.logX || line.x[index] > 0) && (!panel.logY || values[index] > 0);
    const points = (line, values) => line.x.map((_, index) => index).filter((index) => isDrawn(line, index, values))
      .map((index) => `${x(line.x[index]).toFixed(1)},${y(values[index]).toFixed(1)}`);
    for (const line of series) {
      const colour = look.colour(line.label);
      if (line.low.length) {
        const edge = [...points(line, line.low), ...points(line, line.high).reverse()];
        svg.append(element("polygon", { points: edge.join(" "), fill: colour, opacity: 0.18 }));
      }
      const path = points(line, line.y);
      svg.append(element("polyline", { points: path.join(" "), fill: "none", stroke: colour, "stroke-width": 1.8, "stroke-dasharray": DASHES[line.style] }));
      if (path.length === 1) {
        const [cx, cy] = path[0].split(",");
        svg.append(element("circle", { cx, cy, r: 3.5, fill: colour }));
      }
    }
    pointAtLines(svg, area, x, y, series, panel, look, tip);
    return svg;
  }

  function pointAtLines(svg, area, x, y, series, panel, look, tip) {
    const ruler = element("line", { class: "mark", y1: area.top, y2: area.bottom, visibility: "hidden" });
    svg.append(ruler);
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const at = x.back((event.clientX - box.left) * area.width / box.width);
      const near = series.filter((line) => line.x.length).map((line) => ({ line, index: nearest(line.x, at) }));
      if (!near.length) return;
      const spot = x(near[0].line.x[near[0].index]);
      ruler.setAttribute("x1", spot);
      ruler.setAttribute("x2", spot);
      ruler.setAttribute("visibility", "visible");
      const rows = near.map(({ line, index }) => `${line.label}: ${shown(line.y[index])} at ${shown(line.x[index])}`);
      tip(event, [panel.xLabel, ...rows.slice(0, 12), ...(rows.length > 12 ? [`${rows.length - 12} more`] : [])].join("\n"));
    });
    svg.addEventListener("pointerleave", () => { ruler.setAttribute("visibility", "hidden"); tip(null); });
  }

  function nearest(sorted, value) {
    let low = 0, high = sorted.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (sorted[middle] <= value) low = middle; else high = middle;
    }
    return Math.abs(sorted[low] - value) <= Math.abs(sorted[high] - value) ? low : high;
  }

  function drawBars(panel, look, width, tip) {
    const series = panel.series.filter((own) => look.isShown(own.label));
    const longest = Math.min(longestIn(width), Math.max(...panel.labels.map((label) => label.length)));
    const turned = panel.labels.length > 1 && longest * 6 > (width - 68) / panel.labels.length;
    const area = frame(width, ...roomBelow(turned, longest));
    const svg = canvas(area, panel.title);
    const sums = panel.labels.map((_, at) => series.reduce((sum, own) => sum + (own.values[at] ?? 0), 0));
    const y = scale(panel.isStacked ? sums : series.flatMap((own) => own.values), area.bottom, area.top, { zero: true });
    drawAxes(svg, area, null, y, panel);
    const step = (area.right - area.left) / panel.labels.length, room = Math.min(step * 0.8, 90 * (panel.isStacked ? 1 : series.length));
    panel.labels.forEach((label, at) => {
      const centre = area.left + step * (at + 0.5);
      let below = 0;
      series.forEach((own, index) => {
        const value = own.values[at];
        if (value === null) return;
        const wide = panel.isStacked ? room : room / series.length;
        const left = centre - room / 2 + (panel.isStacked ? 0 : index * wide);
        const from = panel.isStacked ? below : 0;
        const [upper, lower] = [y(Math.max(from, from + value)), y(Math.min(from, from + value))];
        below += panel.isStacked ? value : 0;
        const bar = element("rect", { x: left, y: upper, width: Math.max(1, wide * 0.94), height: Math.max(0.5, lower - upper), fill: look.colour(own.label) });
        pointed(bar, tip, `${label}\n${own.label}: ${shown(value)}${panel.isStacked ? ` of ${shown(sums[at])}` : ""}\n${panel.yLabel}`);
        svg.append(bar);
      });
      svg.append(labelBelow(cut(label, longest), centre, area.bottom + 14, turned));
    });
    return svg;
  }

  const longestIn = (width) => (width < NARROW ? LONGEST_LABEL / 2 : LONGEST_LABEL);
  const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

  /* Return height and margins of a panel whose labels are that many characters long, turned if they need it. */
  function roomBelow(isTurned, longest) {
    if (!isTurned) return [HEIGHT, { ...MARGIN, bottom: 26 }];
    const bottom = 18 + longest * 3.6;
    return [HEIGHT + bottom - 26, { ...MARGIN, bottom, left: Math.max(MARGIN.left, Math.min(120, longest * 4.6)) }];
  }

  function labelBelow(label, x, y, isTurned) {
    const turn = isTurned ? { "text-anchor": "end", transform: `rotate(-35 ${x} ${y})` } : { "text-anchor": "middle" };
    return element("text", { x, y, ...turn }, label);
  }

  function drawBoxes(panel, look, width, tip) {
    const groups = panel.groups.filter((group) => group.count);
    const longest = Math.min(longestIn(width), Math.max(0, ...groups.map((group) => group.label.length)));
    const turned = longest * 6 > (width - 68) / Math.max(1, groups.length);
    const area = frame(width, ...roomBelow(turned, longest)), svg = canvas(area, panel.title);
    const y = scale(groups.flatMap((group) => group.whiskers), area.bottom, area.top, { log: panel.logY, zero: true });
    const at = (value) => y(panel.logY ? Math.max(value, y.low) : value);
    drawAxes(svg, area, null, y, panel);
    const step = (area.right - area.left) / Math.max(1, groups.length), half = Math.min(24, step * 0.3);
    groups.forEach(({ label, count, quartiles, whiskers }, index) => {
      const centre = area.left + step * (index + 0.5), colour = "var(--s0)";
      const line = (x1, x2, y1, y2, stroke = colour, wide = 1.4) => svg.append(element("line", { x1, x2, y1, y2, stroke, "stroke-width": wide }));
      line(centre, centre, at(whiskers[0]), at(whiskers[1]));
      for (const end of whiskers) line(centre - half / 2, centre + half / 2, at(end), at(end));
      const box = element("rect", { x: centre - half, width: 2 * half, y: at(quartiles[2]), height: Math.max(1, at(quartiles[0]) - at(quartiles[2])), fill: "var(--raised)", stroke: colour });
      const [first, median, third] = quartiles.map(shown);
      pointed(box, tip, `${label}: ${count.toLocaleString("en-US")}\nmedian ${median}, half of them ${first} to ${third}\n${panel.yLabel}`);
      svg.append(box);
      line(centre - half, centre + half, at(quartiles[1]), at(quartiles[1]), "var(--s1)", 2);
      svg.append(labelBelow(cut(label, longest), centre, area.bottom + 14, turned));
    });
    return svg;
  }

  function drawHeatMap(panel, look, width, tip) {
    const area = frame(width, HEIGHT, { ...MARGIN, bottom: 40 }), svg = canvas(area, panel.title);
    const wide = (area.right - area.left) / panel.x.length, high = (area.bottom - area.top) / panel.y.length;
    const share = shareOf(panel.limits ?? rangeOf(panel.values.flat()));
    panel.values.forEach((row, r) => row.forEach((value, c) => {
      const cell = element("rect", { x: area.left + c * wide, y: area.top + r * high, width: wide, height: high, stroke: "var(--ground)", fill: value === null ? "var(--raised)" : between(share(value)) });
      pointed(cell, tip, `${panel.yLabel} ${panel.y[r]}, ${panel.xLabel} ${panel.x[c]}\n${shown(value)}`);
      svg.append(cell);
    }));
    panel.x.forEach((label, c) => svg.append(element("text", { x: area.left + (c + 0.5) * wide, y: area.bottom + 14, "text-anchor": "middle" }, label)));
    panel.y.forEach((label, r) => svg.append(element("text", { x: area.left - 6, y: area.top + (r + 0.5) * high + 4, "text-anchor": "end" }, label)));
    drawAxes(svg, area, null, null, panel);
    return svg;
  }

  function drawTimeline(panel, look, width, tip) {
    const lane = panel.lanes.length > MANY_LANES ? LEAST_LANE : LANE;
    const left = Math.min(width * 0.3, 16 + 6.2 * Math.max(0, ...panel.lanes.map((name) => name.length)));
    const area = frame(width, 30 + lane * panel.lanes.length + 36, { top: 6, right: 14, bottom: 36, left });
    const svg = canvas(area, panel.title), top = (number) => area.top + lane * number;
    const x = scale([...panel.start, ...panel.end], area.left, area.right);
    for (const value of x.ticks) svg.append(element("line", { class: "grid", x1: x(value), x2: x(value), y1: area.top, y2: area.bottom }));
    drawAxes(svg, area, x, null, panel);
    const every = Math.ceil(11 / lane);
    panel.lanes.forEach((name, number) => {
      if (number % every) return;
      const room = Math.floor((area.left - 10) / 6), own = name.length > room ? name.split(": ").at(-1) : name;
      svg.append(element("text", { x: area.left - 6, y: top(number) + lane / 2 + 4, "text-anchor": "end" }, cut(own, room)));
    });
    panel.lane.forEach((number, index) => {
      const kind = panel.kinds[panel.what[index]];
      if (!look.isShown(kind)) return;
      const from = x(panel.start[index]), marked = panel.marked[index] && look.isShown(panel.markedAs);
      const span = element("rect", {
        x: from.toFixed(2), y: top(number) + 1, width: Math.max(0.8, x(panel.end[index]) - from).toFixed(2), height: lane - 2, fill: look.colour(kind),
        ...(kind === "waiting" ? { opacity: FAINT } : {}), ...(marked ? { stroke: "var(--marked)", "stroke-width": 1.6, class: "marked" } : {}),
      });
      const lasts = panel.end[index] - panel.start[index];
      pointed(span, tip, `${panel.lanes[number]}\n${kind}, ${shown(panel.start[index])} to ${shown(panel.end[index])} (${shown(lasts)})\n${panel.text[index]}`);
      svg.append(span);
    });
    return html("div", { className: "lanes" }, svg);
  }

  function drawDots(panel, look, width, tip) {
    const sets = panel.sets.filter((own) => look.isShown(own.label));
    const [across, along] = panel.extent ?? [1, 1];
    const height = panel.isMap ? Math.min(560, Math.max(160, (width - 68) * along / across + 58)) : HEIGHT + 40;
    const area = frame(width, height), svg = canvas(area, panel.title);
    let [right, bottom] = [area.right, area.bottom];
    if (panel.isMap) {
      const metre = Math.min((area.right - area.left) / across, (area.bottom - area.top) / along);
      [right, bottom] = [area.left + metre * across, area.top + metre * along];
      Object.assign(area, { right, bottom });
    }
    const own = (axis, end) => (panel.isMap ? [0, end] : sets.flatMap((set) => set[axis]));
    const x = scale(own("x", across), area.left, right, { log: panel.logX, zero: true });
    const y = scale(own("y", along), bottom, area.top, { log: panel.logY, zero: true });
    drawAxes(svg, area, x, y, panel);
    const share = shareOf(rangeOf(panel.sets.flatMap((set) => set.values)));
    for (const set of sets) {
      const colour = (index) => (set.values.length ? between(share(set.values[index])) : look.colour(set.label));
      set.to.forEach(([toX, toY], index) => svg.append(element("line", { class: "grid", x1: x(set.x[index]), y1: y(set.y[index]), x2: x(toX), y2: y(toY) })));
      if (set.isJoined) svg.append(element("polyline", { points: set.x.map((value, index) => `${x(value)},${y(set.y[index])}`).join(" "), fill: "none", stroke: "var(--faint)", "stroke-width": 1.4 }));
      set.x.forEach((value, index) => {
        const dot = set.isJoined ? ringAt(x(value), y(set.y[index])) : markerAt(set.marker, x(value), y(set.y[index]), colour(index), panel.isMap);
        const told = set.values.length ? `\n${panel.valueLabel}: ${shown(set.values[index])}` : "";
        pointed(dot, tip, `${set.texts[index] ?? set.label}\n${panel.xLabel} ${shown(value)}, ${panel.yLabel} ${shown(set.y[index])}${told}`);
        svg.append(dot);
        if (set.isNamed) svg.append(nameAt(set.texts[index], x(value), y(set.y[index]), area));
      });
    }
    return svg;
  }

  function nameAt(text, x, y, area) {
    const isRight = x > (area.left + area.right) / 2;
    return element("text", { class: "strong", x: x + (isRight ? -8 : 8), y: y - 6, "text-anchor": isRight ? "end" : "start" }, text);
  }

  /* Return a circle around a dot that stands there already. */
  function ringAt(x, y) {
    return element("circle", { cx: x, cy: y, r: 8, fill: "none", stroke: "var(--faint)", "stroke-width": 1.4, "pointer-events": "none" });
  }

  function markerAt(marker, x, y, colour, isMap) {
    if (marker === "triangle") return element("path", { d: `M${x},${y - 7}l7,12h-14z`, fill: "var(--marked)" });
    if (marker === "cross") return element("path", { d: `M${x - 4},${y - 4}l8,8m0,-8l-8,8`, stroke: isMap ? "var(--faint)" : colour, "stroke-width": 2 });
    return element("circle", { cx: x, cy: y, r: 4.5, fill: colour, stroke: "var(--ground)", "stroke-width": 0.8 });
  }

  function rangeOf(values) {
    const known = values.filter((value) => value !== null);
    return known.length ? [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))] : [0, 1];
  }

  const shareOf = ([low, high]) => (value) => (high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 1);
  const between = (share) => `color-mix(in oklab, var(--high) ${(100 * share).toFixed(0)}%, var(--low))`;

  function pointed(shape, tip, text) {
    shape.addEventListener("pointermove", (event) => tip(event, text));
    shape.addEventListener("pointerleave", () => tip(null));
  }

  /* -------------------------------------------------------------------------------------------------- figures */

  const DRAW = { lines: drawLines, bars: drawBars, boxes: drawBoxes, heatMap: drawHeatMap, timeline: drawTimeline, dots: drawDots };

  function labelsOf(panel) {
    if (panel.kind === "timeline") return panel.kinds;
    if (panel.kind === "dots") return panel.sets.map((own) => own.label);
    return (panel.series ?? []).map((own) => own.label);
  }

  function looksOf(figure) {
    const labels = [...new Set(figure.panels.flatMap(labelsOf))];
    const numbers = new Map(labels.map((label, index) => [label, FIXED[label] ?? index]));
    return { labels, hidden: new Set(), colour: (label) => `var(--s${numbers.get(label) % COLOURS})`, isShown(label) { return !this.hidden.has(label); } };
  }

  function legendOf(figure, look, redraw) {
    const entry = (label, swatch) => {
      const button = html("button", { type: "button", title: "show or hide" }, swatch, label);
      button.setAttribute("aria-pressed", String(look.isShown(label)));
      button.addEventListener("click", () => { look.hidden.has(label) ? look.hidden.delete(label) : look.hidden.add(label); redraw(); });
      return button;
    };
    const isMap = figure.panels.some((panel) => panel.isMap);
    const sets = new Map(figure.panels.flatMap((panel) => (panel.sets ?? []).map((own) => [own.label, own])));
    const swatchOf = (label) => {
      const own = sets.get(label), swatch = own ? html("b", {}, SIGNS[own.marker]) : html("i");
      if (!own) swatch.style.background = look.colour(label);
      else if (own.isJoined) swatch.textContent = "○";
      else if (own.marker !== "triangle" && !own.values.length && !isMap) swatch.style.color = look.colour(label);
      if (label === "waiting") swatch.style.opacity = FAINT;
      return swatch;
    };
    const entries = look.labels.map((label) => entry(label, swatchOf(label)));
    const marked = new Set(figure.panels.map((panel) => panel.markedAs).filter(Boolean));
    for (const label of marked) entries.push(entry(label, html("i", { className: "marked" })));
    return html("div", { className: "legend" }, ...(look.labels.length + marked.size > 1 ? entries : []));
  }

  function scaleOf(panel) {
    const values = (panel.sets ?? []).flatMap((own) => own.values);
    if (!values.length) return [];
    const [low, high] = rangeOf(values), bar = html("i");
    bar.style.background = "linear-gradient(to right in oklab, var(--low), var(--high))";
    return [html("p", { className: "scale" }, shown(low), bar, `${shown(high)} ${panel.valueLabel}`)];
  }

  function draw(place, figure, tip) {
    const look = looksOf(figure);
    const panels = html("div", { className: "panels" }), legend = html("div");
    const boxes = figure.panels.map((panel) => html("div", { className: "panel" }, ...(panel.title ? [html("h3", {}, panel.title)] : [])));
    panels.append(...boxes);
    const note = figure.note ? [html("p", { className: "note" }, figure.note)] : [];
    place.replaceChildren(html("figcaption", {}, figure.title), legend, panels, ...note);
    const redraw = () => {
      legend.replaceChildren(legendOf(figure, look, redraw));
      figure.panels.forEach((panel, index) => {
        const box = boxes[index], width = Math.max(240, Math.floor(box.clientWidth));
        box.replaceChildren(...[...box.children].filter((child) => child.tagName === "H3"), DRAW[panel.kind](panel, look, width, tip), ...scaleOf(panel));
      });
    };
    redraw();
    return redraw;
  }

  return { draw };
})();
