"use strict";
(function () {
  const canvas = document.getElementById("timeline");
  if (!canvas) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const said = document.getElementById("said");
  const ROW = 22, HEAD = 18, AXIS = 22, LANES = 8;
  // Black or white, whichever is told better from a class's colour.
  const inks = data.colours.map(function (colour) {
    const parts = [1, 3, 5].map(function (at) { return Math.pow(parseInt(colour.slice(at, at + 2), 16) / 255, 2.2); });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] > 0.18 ? "#000" : "#fff";
  });
  let whole = 1;
  // Each track becomes lanes without overlaps; what overlaps more than LANES deep shares the last one.
  const tracks = data.tracks.map(function (track) {
    const lanes = [];
    let at = 0;
    for (let i = 0; i < track.starts.length; i++) {
      at += track.starts[i];
      let lane = lanes.findIndex(function (each) { return each.free <= at; });
      if (lane < 0) lane = lanes.length < LANES ? lanes.push({ starts: [], ends: [], kernels: [], free: 0 }) - 1 : LANES - 1;
      const into = lanes[lane], end = at + track.durations[i];
      into.starts.push(at);
      into.ends.push(end);
      into.kernels.push(track.kernels[i]);
      into.free = Math.max(into.free, end);
      whole = Math.max(whole, end);
    }
    return { device: track.device, lanes: lanes };
  });
  const height = tracks.reduce(function (sum, each) { return sum + HEAD + ROW * each.lanes.length; }, AXIS);
  let from = 0, to = whole, width = 0, queued = false, hovered = null;
  const context = canvas.getContext("2d");

  // A time with four digits, or with as many as multiples of `unit` need.
  function time(ns, unit) {
    const [size, name] = [[1e9, " s"], [1e6, " ms"], [1e3, " us"]].find(function (each) { return ns >= each[0]; }) || [1, " ns"];
    if (unit) return (ns / size).toFixed(Math.max(0, Math.ceil(Math.log10(size / unit) - 1e-9))) + name;
    return size === 1 ? Math.round(ns) + name : (ns / size).toPrecision(4) + name;
  }

  // The least of 1, 2, 5, 10, 20, ... that isn't below `least` (ns).
  function step(least) {
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1))));
    return power * [1, 2, 5, 10].find(function (each) { return each * power >= least; });
  }

  // The first number, not below `low`, whose end lies behind `at`; ends ascend within a lane.
  function first(ends, at, low = 0) {
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] > at) high = middle; else low = middle + 1;
    }
    return low;
  }

  function draw() {
    queued = false;
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    canvas.style.height = height + "px";
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.body), scale = width / (to - from);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = style.color;
    let y = 0;
    for (const track of tracks) {
      context.fillStyle = style.color;
      context.fillText(track.device, 4, y + 13);
      y += HEAD;
      for (const lane of track.lanes) {
        let i = first(lane.ends, from);
        while (i < lane.starts.length && lane.starts[i] < to) {
          const x = (lane.starts[i] - from) * scale, end = (lane.ends[i] - from) * scale;
          const left = Math.max(x, 0), kernel = lane.kernels[i];
          context.fillStyle = data.colours[data.kinds[kernel]];
          context.fillRect(left, y + 2, Math.max(Math.min(end, width) - left, 0.6), ROW - 4);
          // What ends on the same pixel would hide this one: one dispatch stands for all of a pixel.
          const pixel = Math.floor(Math.max(end, left)) + 1;
          i = end - x < 1 ? Math.max(i + 1, first(lane.ends, from + pixel / scale, i)) : i + 1;
          const room = Math.min(end, width) - left;
          if (room > 60) {
            context.fillStyle = inks[data.kinds[kernel]];
            context.fillText(data.names[kernel].slice(0, Math.floor(room / 7) - 1), left + 4, y + 15);
          }
        }
        y += ROW;
      }
    }
    context.fillStyle = style.color;
    const tick = step((to - from) * 90 / width);
    context.textAlign = "center";
    for (let at = Math.ceil(from / tick) * tick; at <= to; at += tick) {
      const x = (at - from) * scale;
      context.fillRect(x, height - AXIS, 1, 4);
      if (x > 30 && x < width - 30) context.fillText(time(at, tick), x, height - 6);
      else if (at === 0) context.fillText("0", 6, height - 6);
    }
    context.textAlign = "left";
  }

  function queue() {
    if (!queued) { queued = true; requestAnimationFrame(draw); }
  }

  function show(start, end) {
    const span = Math.min(Math.max(end - start, 10), whole);
    from = Math.min(Math.max(start, 0), whole - span);
    to = from + span;
    queue();
  }

  function zoom(factor, share) {
    const at = from + (to - from) * share;
    show(at - (at - from) * factor, at + (to - at) * factor);
  }

  function under(x, y) {
    let top = 0;
    for (const track of tracks) {
      top += HEAD;
      for (const lane of track.lanes) {
        if (y >= top && y < top + ROW) {
          const at = from + (to - from) * x / width, i = first(lane.ends, at);
          return i < lane.starts.length && lane.starts[i] <= at ? { lane: lane, i: i } : null;
        }
        top += ROW;
      }
    }
    return null;
  }

  canvas.addEventListener("wheel", function (event) {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.002), event.offsetX / width);
  }, { passive: false });
  let held = null;
  canvas.addEventListener("pointerdown", function (event) {
    held = { x: event.clientX, from: from };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", function (event) {
    if (held) {
      const start = held.from - (event.clientX - held.x) * (to - from) / width;
      show(start, start + (to - from));
      return;
    }
    const found = under(event.offsetX, event.offsetY), key = found ? found.lane.starts[found.i] : null;
    if (key === hovered) return;
    hovered = key;
    said.textContent = found
      ? data.names[found.lane.kernels[found.i]] + ": " + time(found.lane.ends[found.i] - found.lane.starts[found.i]) +
        ", " + data.classes[data.kinds[found.lane.kernels[found.i]]] + ", at " + time(found.lane.starts[found.i])
      : "";
  });
  canvas.addEventListener("pointerup", function () { held = null; });
  canvas.addEventListener("keydown", function (event) {
    const step = (to - from) / 5;
    if (event.key === "+" || event.key === "=") zoom(0.5, 0.5);
    else if (event.key === "-") zoom(2, 0.5);
    else if (event.key === "0") show(0, whole);
    else if (event.key === "ArrowLeft") show(from - step, to - step);
    else if (event.key === "ArrowRight") show(from + step, to + step);
    else return;
    event.preventDefault();
  });
  window.addEventListener("resize", queue);
  draw();
})();
