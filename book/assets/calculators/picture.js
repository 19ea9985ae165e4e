/* Pictures of the calculators: SVG made node by node, in the colours and the font of the page. */
"use strict";
(() => {
  const fit = (globalThis.willItFit ??= {});
  const SVG = "http://www.w3.org/2000/svg";
  const BESIDE = [[8, -10], [-8, -10], [8, 10], [-8, 10], [9, 0], [-9, 0]];  // of a dot, for its label
  const USUAL = 720;  // CSS pixels, of a picture that was not laid out yet

  /* An element with attributes and children; a string becomes text. */
  const make = (name, attributes = {}, ...children) => {
    const svg = name.startsWith("svg:");
    const node = svg ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  };
  const svg = (name, attributes, ...children) => make(`svg:${name}`, attributes, ...children);

  const digits = fit.plain, bytes = (value) => fit.human(value, "B"), time = (value) => fit.human(value, "s");

  /* A picture keeps its height, and is as wide as the page leaves it: its letters stay as large. */
  const picture = (label, height, redraw) => {
    const node = svg("svg", { role: "img", "aria-label": label, style: `height: ${height}px` });
    node.size = { width: USUAL, height };
    new ResizeObserver(([{ contentRect: { width } }]) => {
      if (!width || Math.abs(width - node.size.width) < 1) return;
      node.size.width = width;
      redraw();
    }).observe(node);
    return node;
  };

  /* A bar of parts beside each other: `parts` are {size, colour, label}; `marks` are lines. */
  const bar = (node, { parts, whole, marks = [] }) => {
    const { width, height: room } = node.size, height = room - 12;
    const scale = (width - 4) / whole, children = [svg("rect", { x: 0, y: 0, width: width - 4, height, class: "frame" })];
    let from = 0;
    for (const { size, colour } of parts) {
      if (size <= 0) continue;
      children.push(svg("rect", { x: from * scale, y: 0, width: size * scale, height, class: `part part-${colour}` }));
      from += size;
    }
    for (const { at } of marks) {
      children.push(svg("line", { x1: at * scale, x2: at * scale, y1: -4, y2: height + 4, class: "limit" }));
    }
    node.setAttribute("viewBox", `-2 -6 ${width} ${room}`);
    node.replaceChildren(...children);
  };

  /* Round numbers of an axis from low to high: 1, 2, 5 and their tens. */
  const ticks = (low, high, log) => {
    if (log) {
      const found = [];
      const every = Math.log10(high / low) > 4 ? [1] : Math.log10(high / low) > 1.5 ? [1, 3] : [1, 2, 5];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
        for (const factor of every) {
          const tick = factor * 10 ** power;
          if (tick >= low * 0.999 && tick <= high * 1.001) found.push(tick);
        }
      }
      return found;
    }
    const rough = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough);
    const found = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high * 1.001; tick += step) found.push(tick);
    return found;
  };

  /* Lines, dots and limits over two axes. `lines`: {points: [[x, y]], class}; `dots`: {x, y, low,
     high, class, label}; `limits`: {x}; `x` and `y`: {low, high, log, title, format}. */
  const chart = (node, { x, y, lines = [], dots = [], limits = [] }) => {
    const { width, height } = node.size, left = 52, right = 22, top = 26, bottom = 44;
    const scaled = ({ low, high, log }, from, to) => (value) => {
      const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      return from + Math.min(Math.max(share, -0.05), 1.05) * (to - from);
    };
    const atX = scaled(x, left, width - right), atY = scaled(y, height - bottom, top), children = [];
    for (const tick of ticks(x.low, x.high, x.log)) {
      children.push(
        svg("line", { x1: atX(tick), x2: atX(tick), y1: top, y2: height - bottom, class: "grid" }),
        svg("text", { x: atX(tick), y: height - bottom + 18, class: "tick middle" }, (x.format ?? digits)(tick)));
    }
    for (const tick of ticks(y.low, y.high, y.log)) {
      children.push(
        svg("line", { x1: left, x2: width - right, y1: atY(tick), y2: atY(tick), class: "grid" }),
        svg("text", { x: left - 6, y: atY(tick) + 4, class: "tick end" }, (y.format ?? digits)(tick)));
    }
    children.push(
      svg("text", { x: (left + width - right) / 2, y: height - 6, class: "title middle" }, x.title),
      svg("text", { x: 4, y: 14, class: "title" }, y.title));
    for (const { at } of limits) {
      if (at >= x.low && at <= x.high) children.push(svg("line", { x1: atX(at), x2: atX(at), y1: top, y2: height - bottom, class: "limit" }));
    }
    for (const { points, kind } of lines) {
      const path = points.filter(([, value]) => Number.isFinite(value))
        .map(([a, b], place) => `${place ? "L" : "M"}${atX(a).toFixed(1)} ${atY(b).toFixed(1)}`).join("");
      if (path) children.push(svg("path", { d: path, class: `line ${kind}` }));
    }
    const taken = dots.map(({ x: a, y: b }) => [atX(a), atY(b)]);
    for (const { x: a, y: b, low, high, kind = "", label } of dots) {
      if (low !== undefined) children.push(svg("line", { x1: atX(a), x2: atX(a), y1: atY(low), y2: atY(high), class: "interval" }));
      children.push(svg("circle", { cx: atX(a), cy: atY(b), r: 5, class: `dot ${kind}` }));
      if (label) {  // beside its dot, where no other dot or label stands
        const free = ([right, down]) => !taken.some(([u, w]) => Math.abs(u - atX(a) - 1.4 * right) < 9 && Math.abs(w - atY(b) - down) < 10);
        const [right, down] = BESIDE.find(free) ?? BESIDE[0];
        taken.push([atX(a) + 1.4 * right, atY(b) + down]);
        children.push(svg("text", { x: atX(a) + right, y: atY(b) + down + 4, class: `tick ${right < 0 ? "end" : ""}` }, label));
      }
    }
    node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    node.replaceChildren(...children);
  };

  Object.assign(fit, { make, svg, picture, bar, chart, digits, bytes, time });
})();
