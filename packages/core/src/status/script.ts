/**
 * What the page runs: it reads the facts every two seconds and puts them in, and asks for explanations.
 * All that comes from the server goes in as text. No backquote or backslash stands in it.
 */
export const SCRIPT: string = `'use strict';
(() => {
  const EVERY_MS = 2000;
  const TIMEOUT_MS = 5000;
  const base = document.currentScript.src.slice(0, -'status.js'.length);
  const byId = (id) => document.getElementById(id);
  const note = byId('note');
  const pause = byId('pause');
  const limiter = byId('limiter');
  const policy = byId('policy');
  const answer = byId('answer');
  const factsTable = byId('facts');
  const options = [...policy.options];
  const setText = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };

  let earlier;
  let asked;
  let isPaused = false;
  let timer;
  let questions = 0;

  async function read(path, headers) {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(base + path, { headers, signal, cache: 'no-store' });
    return { status: response.status, body: await response.json() };
  }

  async function refresh() {
    clearTimeout(timer);
    try {
      const { status, body } = await read('facts');
      if (status !== 200) throw new Error('no facts');
      if (!isPaused) show(body);
      setText(note, '');
    } catch {
      setText(note, 'This replica does not answer. Trying again.');
    }
    if (!isPaused) timer = setTimeout(refresh, EVERY_MS);
  }

  function show({ facts, texts, rows }) {
    for (const element of document.querySelectorAll('[data-text]')) {
      const text = texts[element.dataset.text] ?? '';
      setText(element, text);
      if ('value' in element.dataset) element.dataset.value = text;
      if (element.tagName === 'DD') element.parentElement.hidden = text === '';
    }
    for (const body of document.querySelectorAll('[data-rows]')) {
      fill(body, rows[body.dataset.rows] ?? []);
    }
    for (const element of document.querySelectorAll('[data-rate]')) {
      setText(element, rateOf(element.dataset.rate, facts));
    }
    earlier = facts;
    mark();
  }

  function fill(body, rows) {
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((texts, i) => {
      const row = body.rows[i] ?? body.insertRow();
      texts.forEach((text, j) => {
        if (row.children[j] === undefined) row.append(newCell(j));
        setText(row.children[j], text);
      });
    });
  }

  function newCell(column) {
    const cell = document.createElement(column === 0 ? 'th' : 'td');
    if (column === 0) cell.scope = 'row';
    else cell.className = 'number';
    return cell;
  }

  /** Behind one address there may be several replicas: their counts have nothing to do with each other. */
  function rateOf(place, facts) {
    if (earlier === undefined || earlier.replica !== facts.replica) return '–';
    const [n, i] = place.split('.');
    const now = facts.limiters[n]?.policies[i];
    const before = earlier.limiters[n]?.policies[i];
    const ms = facts.atMs - earlier.atMs;
    if (!now || !before || ms <= 0) return '–';
    const rate = ((now.total - before.total) * 1000) / ms;
    return rate.toLocaleString('en-US', { maximumFractionDigits: rate < 10 ? 1 : 0 });
  }

  function mark() {
    for (const row of document.querySelectorAll('[data-rows] tr')) {
      const isAsked = asked !== undefined && row.children[0].textContent === asked;
      row.classList.toggle('asked', isAsked);
      if (isAsked) row.setAttribute('aria-current', 'true');
      else row.removeAttribute('aria-current');
    }
  }

  function choosePolicies() {
    const index = String(limiter === null ? 0 : limiter.selectedIndex);
    policy.replaceChildren(...options.filter((option) => option.dataset.limiter === index));
    policy.selectedIndex = 0;
  }

  async function explain(event) {
    event.preventDefault();
    const question = ++questions;
    const headers = {
      'rl-policy': encodeURIComponent(policy.value),
      'rl-key': encodeURIComponent(byId('key').value.toWellFormed()),
      'rl-cost': byId('cost').value,
    };
    if (limiter !== null) headers['rl-limiter'] = encodeURIComponent(limiter.value);
    let told;
    try {
      const { body } = await read('explain', headers);
      told = body.error === undefined ? body : { answer: body.error };
    } catch {
      told = { answer: 'This replica does not answer. Try again.' };
    }
    if (question !== questions) return;
    setText(answer, told.answer);
    asked = told.masked;
    fill(factsTable.tBodies[0], Object.entries(told.facts ?? {}));
    setText(factsTable.caption, 'What is known of ' + (asked ?? 'the key'));
    factsTable.parentElement.hidden = told.facts === undefined;
    mark();
  }

  pause.hidden = false;
  pause.addEventListener('click', () => {
    isPaused = !isPaused;
    setText(pause, isPaused ? 'Resume' : 'Pause');
    pause.setAttribute('aria-pressed', String(isPaused));
    clearTimeout(timer);
    if (!isPaused) refresh();
  });
  limiter?.addEventListener('change', choosePolicies);
  choosePolicies();
  byId('explain').addEventListener('submit', explain);
  refresh();
})();
`;
