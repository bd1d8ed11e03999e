"use strict";
(() => {
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const rows = all(".row"), filter = document.getElementById("filter");
  let here = -1;

  // Filter: words that all occur in a row, and a verdict.
  if (filter) {
    const words = document.getElementById("words"), verdict = document.getElementById("verdict");
    const count = document.getElementById("count");
    const texts = rows.map((row) => row.firstElementChild.textContent.toLowerCase());
    const apply = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, i) => {
        row.hidden = !(wanted.every((word) => texts[i].includes(word)) && (!verdict.value || row.dataset.v === verdict.value));
        shown += !row.hidden;
      });
      count.textContent = shown === rows.length ? `${shown} experiments` : `${shown} of ${rows.length}`;
    };
    filter.hidden = false;
    words.addEventListener("input", apply);
    verdict.addEventListener("change", apply);
    apply();
  }

  // A link to an experiment opens it.
  const open = () => {
    const row = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (row && row.matches(".row")) { row.hidden = false; row.open = true; row.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();

  // Keyboard: j and k move over the rows that are shown, Enter opens; / goes to the filter, Esc leaves it.
  const go = (step) => {
    const shown = rows.filter((row) => !row.hidden), at = shown.indexOf(rows[here]);
    const next = shown[at < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, at + step))];
    if (!next) return;
    all(".row.here").forEach((row) => row.classList.remove("here"));
    next.classList.add("here");
    here = rows.indexOf(next);
    next.firstElementChild.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input, select");
    if (event.key === "Escape") { event.target.blur(); tip.hidden = true; return; }
    if (typing) return;
    if (event.key === "/" && filter) { event.preventDefault(); document.getElementById("words").focus(); }
    else if (event.key === "j") go(1);
    else if (event.key === "k") go(-1);
    else if (event.key.startsWith("Arrow") && event.target.matches("figure .scroll")) point(event);
  });

  // Hover, or arrow keys in a plot: what a mark shows, in words. The browser's own slow tip is taken out meanwhile.
  const tip = document.body.appendChild(document.createElement("div"));
  tip.id = "tip";
  tip.hidden = true;
  const told = (mark) => {
    const title = mark.querySelector("title");
    if (title) { mark.dataset.told = title.textContent; title.remove(); }
    return mark.dataset.told;
  };
  const show = (mark, x, y) => {
    tip.textContent = told(mark);
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 8 : y + 18}px`;
  };
  addEventListener("pointermove", (event) => {
    const mark = event.target.closest && event.target.closest(".m");
    if (mark) show(mark, event.clientX, event.clientY); else tip.hidden = true;
  }, { passive: true });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  const point = (event) => {
    const marks = all(".m", event.target), at = marks.findIndex((mark) => mark.classList.contains("here"));
    if (!marks.length) return;
    event.preventDefault();
    const back = event.key === "ArrowLeft" || event.key === "ArrowUp";
    const next = marks[(at < 0 ? (back ? marks.length - 1 : 0) : at + (back ? -1 : 1) + marks.length) % marks.length];
    if (at >= 0) marks[at].classList.remove("here");
    next.classList.add("here");
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
    const box = next.getBoundingClientRect();
    show(next, box.right, box.bottom);
  };

  // Every plot saves itself under its caption, as SVG with the colours that it has now, or as PNG with twice its size.
  const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family",
    "text-anchor"];
  const HEAD = 26, MARGIN = 10;
  const standalone = (svg) => {
    const copy = svg.cloneNode(true), from = all("*", svg);
    all("*", copy).forEach((node, i) => {
      const style = getComputedStyle(from[i]);
      for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name));
      node.removeAttribute("class");
    });
    const made = (name, facts) => {
      const node = document.createElementNS(svg.namespaceURI, name);
      for (const [key, value] of Object.entries(facts)) node.setAttribute(key, value);
      return node;
    };
    const body = getComputedStyle(document.body), { width, height } = svg.viewBox.baseVal;
    const caption = made("text", { x: 0, y: 16 - HEAD, fill: body.color, "font-family": body.fontFamily, "font-size": 14, "font-weight": 600 });
    caption.textContent = svg.getAttribute("aria-label");
    copy.prepend(made("rect", { x: -MARGIN, y: -HEAD - MARGIN, width: "100%", height: "100%", fill: body.backgroundColor }), caption);
    const whole = [width + 2 * MARGIN, height + HEAD + 2 * MARGIN];
    copy.setAttribute("viewBox", [-MARGIN, -HEAD - MARGIN, ...whole].join(" "));
    copy.setAttribute("width", whole[0]);
    copy.setAttribute("height", whole[1]);
    copy.setAttribute("xmlns", svg.namespaceURI);
    return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  };
  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const png = (svg, name) => {
    const image = new Image(), url = URL.createObjectURL(standalone(svg));
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(url);
      canvas.toBlob((blob) => save(blob, name));
    };
    image.src = url;
  };
  const equip = (root) => all("figure", root).forEach((figure) => {
    const svg = figure.querySelector("svg"), name = figure.dataset.name.replace(/[^\w.-]+/g, "_");
    const bar = figure.appendChild(document.createElement("div"));
    bar.className = "save";
    for (const [kind, act] of [["SVG", () => save(standalone(svg), `${name}.svg`)], ["PNG", () => png(svg, `${name}.png`)]]) {
      const button = bar.appendChild(document.createElement("button"));
      button.textContent = kind;
      button.setAttribute("aria-label", `Save ${name} as ${kind}`);
      button.addEventListener("click", act);
    }
  });
  all(".part").forEach((part) => {
    part.closest(".row").addEventListener("toggle", () => { if (!part.dataset.ready) { part.dataset.ready = "1"; equip(part); } });
  });
  all("section").forEach((section) => { if (section.id !== "experiments") equip(section); });

  // Paper shows what is unfolded at the moment, and the plots of a page that is served follow the campaign.
  const version = document.body.dataset.follows;
  if (version) {
    const live = document.getElementById("live");
    const KEPT = "expctl-open";
    try {
      JSON.parse(sessionStorage.getItem(KEPT) || "[]").forEach((id) => { const row = document.getElementById(id); if (row) row.open = true; });
    } catch { /* a page without storage begins folded */ }
    const ask = async () => {
      let wait = 2000;
      try {
        const answer = await fetch("live", { cache: "no-store" });
        if (answer.headers.get("X-Version") !== version) {
          try { sessionStorage.setItem(KEPT, JSON.stringify(rows.filter((row) => row.open).map((row) => row.id))); } catch { /* as above */ }
          location.reload();
          return;
        }
        const text = await answer.text();
        if (live.dataset.text !== text) { live.dataset.text = text; live.innerHTML = text; live.hidden = !text; equip(live); }
      } catch {
        live.hidden = false;
        live.textContent = "expctl report --serve has ended; this is what it showed last.";
        wait = 10000;
      }
      setTimeout(ask, document.hidden ? 10000 : wait);
    };
    ask();
  }
})();
