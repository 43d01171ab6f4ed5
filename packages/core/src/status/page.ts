import type { LimiterFacts, PolicyFacts, StatusFacts } from './facts.js';
import { figure } from './figures.js';
import { type Html, html } from './html.js';
import { OUTCOME_NAMES, type StatusTexts, textsOf } from './texts.js';

/** @param mount where the page is, without the slash at its end */
export function renderPage(facts: StatusFacts, mount: string): string {
  const shown = textsOf(facts);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Rate limits of this replica</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${mount}/status.css">
<script src="${mount}/status.js" defer></script>
</head>
<body>
<header>
<div><h1>Rate limits</h1>
<p>Replica <code data-text="replica">${facts.replica}</code>, since it started</p></div>
<p id="note" role="status"></p>
<button id="pause" type="button" aria-pressed="false" hidden>Pause</button>
</header>
<main>
${explainSection(facts)}
${facts.limiters.map((limiter, n) => limiterSection(limiter, n, shown))}
</main>
<footer><p>Counts, denials and keys are what this replica has seen; other replicas have their own. What is left and
when a call fits, as Explain tells, is the shared store’s.</p></footer>
</body>
</html>
`;
  return page.text;
}

function explainSection({ limiters }: StatusFacts): Html {
  return html`<section aria-labelledby="explain-title">
<h2 id="explain-title">Is this key denied, and why?</h2>
<noscript><p>This form, and the refresh of the page, need JavaScript.</p></noscript>
<form id="explain">
${
  limiters.length > 1 &&
  html`<p><label for="limiter">Limiter</label>
<select id="limiter">${limiters.map(({ name }) => html`<option>${name}</option>`)}</select></p>`
}
<p><label for="policy">Policy</label>
<select id="policy">${limiters.map(({ policies }, n) =>
    policies.map(({ name }) => html`<option data-limiter="${n}">${name}</option>`),
  )}</select></p>
<p class="wide"><label for="key">Key</label>
<input id="key" type="text" required autocomplete="off" autocapitalize="off" spellcheck="false"></p>
<p><label for="cost">Cost</label>
<input id="cost" type="number" min="0" step="1" value="1" required></p>
<p><button type="submit">Explain</button></p>
</form>
<p id="answer" role="status"></p>
<div class="scroll" role="region" aria-labelledby="facts-title" tabindex="0" hidden>
<table id="facts"><caption id="facts-title">What is known of the key</caption>
<thead><tr><th scope="col">Fact</th><th scope="col">Value</th></tr></thead><tbody></tbody></table></div>
</section>`;
}

function limiterSection(limiter: LimiterFacts, n: number, shown: StatusTexts): Html {
  const { name, leases, policies } = limiter;
  const field = (label: string, place: string) => fieldOf(label, `${n}.${place}`, shown);
  return html`<section aria-labelledby="limiter-${n}">
<h2 id="limiter-${n}">${name === undefined ? 'Limiter' : html`Limiter ${name}`}</h2>
<h3>Store</h3>
<dl>
<div><dt>State</dt><dd><span class="state" data-text="${n}.state" data-value="${shown.texts[`${n}.state`]}">${shown.texts[`${n}.state`]}</span></dd></div>
${field('Nodes', 'places')}
${field('Replicas', 'replicas')}
${field('Latency, half', 'p50')}
${field('Latency, 99 %', 'p99')}
${field('Answers', 'answers')}
${field('Errors', 'errors')}
${field('Buckets owed', 'owed')}
${field('Forgotten', 'forgotten')}
</dl>
${
  leases &&
  html`<h3>Leases</h3>
<dl>
${field('Claims', 'claims')}
${field('Granted', 'granted')}
${field('Returned', 'returned')}
${field('Written off', 'writtenOff')}
</dl>`
}
<h3 id="policies-title-${n}">Policies</h3>
<div class="scroll" role="region" aria-labelledby="policies-title-${n}" tabindex="0">
<table id="policies-${n}"><caption>Decisions since this replica started</caption>
<thead><tr><th scope="col">Policy</th><th scope="col">Limit</th><th scope="col">Algorithm</th><th scope="col" class="number">Per second</th>
${OUTCOME_NAMES.map(([, label]) => html`<th scope="col" class="number">${label}</th>`)}<th scope="col">Decided by</th></tr></thead>
<tbody>${policies.map((policy, i) => policyRow(policy, n, i, shown))}</tbody></table></div>
${policies.map((policy, i) => policy.top && keyTables(policy, n, i, shown))}
</section>`;
}

/** Hidden where there is no text. */
function fieldOf(label: string, place: string, { texts }: StatusTexts): Html {
  const text = texts[place] ?? '';
  const hidden = text === '' && html` hidden`;
  return html`<div${hidden}><dt>${label}</dt><dd data-text="${place}">${text}</dd></div>`;
}

function policyRow(policy: PolicyFacts, n: number, i: number, { texts }: StatusTexts): Html {
  const { name, limit, burst, algorithm, flags } = policy;
  const cell = (place: string, kind: string) =>
    html`<td class="${kind}" data-text="${n}.${i}.${place}">${texts[`${n}.${i}.${place}`]}</td>`;
  return html`<tr><th scope="row">${name}${flags.map((flag) => html` <span class="flag">${flag}</span>`)}</th>
<td>${limit}${burst !== undefined && html`<br><small>burst ${figure(burst)}</small>`}</td><td>${algorithm}</td>
<td class="number" data-rate="${n}.${i}">–</td>
${OUTCOME_NAMES.map(([outcome]) => cell(outcome, 'number'))}${cell('origins', 'text')}</tr>`;
}

function keyTables({ name }: PolicyFacts, n: number, i: number, shown: StatusTexts): Html {
  const place = `${n}.${i}`;
  return html`<h3>Keys of policy ${name}, the last <span data-text="${place}.covers">${shown.texts[`${place}.covers`]}</span></h3>
<div class="pair">
${keyTable('denied', 'Most denied', 'Denials, about', place, name, shown)}
${keyTable('busiest', 'Busiest', 'Calls, about', place, name, shown)}
</div>`;
}

function keyTable(
  kind: 'denied' | 'busiest',
  caption: string,
  counted: string,
  place: string,
  policy: string,
  { rows }: StatusTexts,
): Html {
  const own = rows[`${place}.${kind}`] ?? [];
  return html`<div class="scroll" role="region" aria-label="${caption} of ${policy}" tabindex="0">
<table class="${kind}"><caption>${caption}</caption>
<thead><tr><th scope="col">Key</th><th scope="col" class="number">${counted}</th></tr></thead>
<tbody data-rows="${place}.${kind}">${own.map(
    ([key, count]) => html`<tr><th scope="row">${key}</th><td class="number">${count}</td></tr>`,
  )}</tbody></table></div>`;
}
