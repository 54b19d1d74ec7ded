"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);
  const make = (tag, name, text) => Object.assign(document.createElement(tag), { className: name, textContent: text });
  document.documentElement.classList.add("js");

  // Copies a text, also on a file: page, which may not use navigator.clipboard.
  const copy = async (text, button) => {
    const before = button.textContent;
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", "", text);
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = done ? "copied" : "cannot copy";
    button.classList.toggle("done", done);
    setTimeout(() => {
      button.textContent = before;
      button.classList.remove("done");
    }, 1500);
  };
  const copier = (text, label, name) => {
    const button = make("button", name, label);
    button.type = "button";
    button.title = text;
    button.onclick = () => copy(text, button);
    return button;
  };
  all("#failures .r").forEach((pre) => pre.append(copier(pre.textContent, "copy", "copy")));

  // Shows the targets as tabs.
  const sections = all(".target");
  const tabs = all("nav a");
  const show = (number) => {
    sections.forEach((section, n) => section.classList.toggle("on", n === number));
    tabs.forEach((tab, n) => {
      tab.setAttribute("aria-selected", n === number);
      tab.tabIndex = n === number ? 0 : -1;
    });
    filter();
  };
  tabs.forEach((tab, number) => {
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", sections[number].id);
    tab.onclick = (event) => {
      event.preventDefault();
      show(number);
    };
    tab.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (number + step + tabs.length) % tabs.length;
      show(next);
      tabs[next].focus();
    };
  });
  if (one("nav")) one("nav").setAttribute("role", "tablist");

  // The filter shows cells whose op, dtype or kind contains every word and whose state is one of the pressed ones.
  const form = one("form");
  const input = one("input");
  const chips = all("button[data-s]");
  const filter = () => {
    if (!form) return;
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const states = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.s);
    const any = words.length + states.length > 0;
    let count = 0;
    all(".target.on .grid tbody").forEach((body) => {
      const rows = all("tr", body);
      const kind = rows[0].textContent;
      let shown = 0;
      rows.slice(1).forEach((row) => {
        let found = 0;
        all("a,span", row).forEach((cell) => {
          const text = (cell.title.split(":")[0] + " " + kind).toLowerCase();
          const fits = words.every((w) => text.includes(w)) && (!states.length || states.includes(cell.classList[0]));
          cell.classList.toggle("off", !fits);
          found += fits;
        });
        row.hidden = any && !found;
        shown += !row.hidden;
        count += found;
      });
      rows[0].hidden = !shown;
    });
    one("output").textContent = any ? `${count} ${count === 1 ? "cell" : "cells"}` : "";
    all("#failures details:not(.more)").forEach((item) => {
      const text = one("summary", item).textContent.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    });
  };
  if (form) {
    form.hidden = false;
    form.onsubmit = (event) => event.preventDefault();
    input.oninput = filter;
    chips.forEach((chip) => {
      chip.onclick = () => {
        chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
        filter();
      };
    });
    const tools = one(".tools");
    new ResizeObserver(() => document.documentElement.style.setProperty("--top", `${tools.offsetHeight}px`)).observe(tools);
    show(0);
  }

  // Opening a panel for the first time adds the messages, and a button for the command of each check.
  const complete = (panel) => {
    if (panel.dataset.complete) return;
    panel.dataset.complete = "yes";
    const pre = one(".r", panel);
    const first = pre ? pre.textContent : "";
    all("tbody tr:not(.g)", panel).forEach((row) => {
      let command = first;
      if (row.dataset.r) {
        const [, prefix, suffix, between] = row.dataset.r.match(/^(\d+),(\d+),([^]*)$/);
        command = first.slice(0, prefix) + between + first.slice(first.length - suffix);
      }
      if (command) one("th", row).append(copier(command, "copy the command", "again"));
      const link = one(".m", row);
      const message = link && one(link.hash + " pre:not(.r)");
      if (!message) return;
      const line = make("tr", "g", "");
      const cell = make("td", "", "");
      cell.colSpan = 5;
      cell.style.textAlign = "left";
      cell.style.width = "auto";
      cell.append(make("pre", "message", message.textContent));
      line.append(cell);
      row.after(line);
      link.remove();
    });
    if (pre) pre.append(copier(first, "copy", "copy"));
  };
  let came = null;
  const opened = () => {
    all(".chosen").forEach((cell) => cell.classList.remove("chosen"));
    const target = /^#[cft]\d+$/.test(location.hash) && one(location.hash);
    if (!target) return;
    for (let item = target.closest("details"); item; item = item.parentElement.closest("details")) item.open = true;
    if (target.matches("details")) target.scrollIntoView({ block: "nearest" });
    if (!target.matches(".d")) return;
    complete(target);
    all(`.grid a[href="${location.hash}"]`).forEach((cell) => cell.classList.add("chosen"));
    const cell = one(".chosen");
    if (cell && cell.offsetParent) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    target.scrollTop = 0;
    target.focus({ preventScroll: true });
  };
  const close = () => {
    if (!one(".d:target")) return;
    location.replace("#_");
    if (came && came.isConnected) came.focus({ preventScroll: true });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#c'], a[href^='#f']");
    if (link) {
      event.preventDefault();
      if (!link.closest(".d")) came = link;
      location.replace(link.hash);
    } else if (event.target.closest(".close")) {
      event.preventDefault();
      close();
    }
  });
  addEventListener("hashchange", opened);
  opened();

  // The arrow keys move from cell to cell in the grid; Escape closes the panel.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return close();
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    const at = event.target.closest(".grid td > a");
    if (!step || !at) return;
    event.preventDefault();
    const rows = all(".target.on .grid tbody tr:not(.g):not([hidden])");
    let row = rows.indexOf(at.closest("tr"));
    let column = at.parentElement.cellIndex;
    for (;;) {
      row += step[1];
      column += step[0];
      const cell = rows[row] && rows[row].cells[column];
      if (!cell) return;
      const next = one("a", cell);
      if (next) return next.focus();
    }
  });

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((item) => (item.open = true));
  });
  addEventListener("afterprint", () => closed.forEach((item) => (item.open = false)));
})();
