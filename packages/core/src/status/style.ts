/** How the page looks. Colours are told twice, for light and for dark: a contrast of 4.5 and more on both. */
export const STYLE: string = `:root {
  color-scheme: light dark;
  --ground: #f7f7f5; --sheet: #fff; --ink: #1d2126; --faint: #5a626d; --line: #dcdfe3; --edge: #7d8590;
  --accent: #0b57a4; --on-accent: #fff; --good: #17663a; --warn: #7d4e00; --bad: #a3202c; --mark: #fff2c4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a; --sheet: #1b1f24; --ink: #e4e7ea; --faint: #a3abb5; --line: #31373f; --edge: #79828d;
    --accent: #8abaf5; --on-accent: #10161d; --good: #7fd0a0; --warn: #e8bd6a; --bad: #ff9aa0; --mark: #453a13;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 0.875rem/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; margin-bottom: 1rem; }
header > div { margin-right: auto; }
h1, h2, h3, p, dl, dd { margin: 0; }
h1 { font-size: 1.25rem; }
h2 { font-size: 1rem; }
h3 { margin: 1.25rem 0 0.5rem; font-size: 0.875rem; }
header p, footer { color: var(--faint); }
header #note { color: var(--bad); font-weight: 600; }
section {
  margin-bottom: 1rem; padding: 1rem; background: var(--sheet); border: 1px solid var(--line); border-radius: 6px;
}
code { font: 0.9em ui-monospace, monospace; }
form { display: flex; flex-wrap: wrap; align-items: end; gap: 0.75rem; margin-top: 0.75rem; }
form p { min-width: 0; }
form .wide { flex: 1 1 14rem; }
label { display: block; margin-bottom: 0.2rem; color: var(--faint); font-size: 0.8125rem; }
input, select, button {
  max-width: 100%; min-height: 2rem; padding: 0.25rem 0.6rem; border: 1px solid var(--edge); border-radius: 4px;
  background: var(--sheet); color: var(--ink); font: inherit;
}
.wide input { width: 100%; }
#cost { width: 6.5rem; }
button { cursor: pointer; }
form button { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#answer:not(:empty) {
  margin-top: 1rem; padding: 0.6rem 0.8rem; border-left: 3px solid var(--accent); background: var(--ground);
  max-width: 64rem;
}
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 1.75rem; }
dt { color: var(--faint); font-size: 0.8125rem; }
dd { font-weight: 600; }
.state::before { content: ""; display: inline-block; width: 0.6em; height: 0.6em; margin-right: 0.4em; border-radius: 50%; background: currentColor; }
.state[data-value="up"] { color: var(--good); }
.state[data-value="returning"] { color: var(--warn); }
.state[data-value="lost"] { color: var(--bad); }
.scroll { overflow-x: auto; }
.scroll:has(#facts) { margin-top: 1rem; }
table { border-collapse: collapse; width: 100%; overflow-wrap: normal; }
#facts { width: auto; }
caption { padding-bottom: 0.25rem; color: var(--faint); font-size: 0.8125rem; text-align: left; }
th, td { padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0.25rem; }
thead th { color: var(--faint); font-size: 0.8125rem; font-weight: 500; vertical-align: bottom; }
tbody th { font-weight: 600; }
tbody:empty::after { content: "none yet"; display: block; padding: 0.3rem 0; color: var(--faint); }
.denied tbody th, .busiest tbody th { font: 0.8125rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; min-width: 9rem; }
[id^="policies-"] :is(td, tbody th) { white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
thead .number { white-space: normal; }
.flag { padding: 0 0.35em; border: 1px solid var(--line); border-radius: 3px; color: var(--faint); font-size: 0.75rem; font-weight: 400; white-space: nowrap; }
small { color: var(--faint); font-size: 0.8125rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 0.75rem 2.5rem; }
.asked > * { background: var(--mark); }
@media (prefers-reduced-motion: no-preference) { .asked > * { transition: background-color 0.2s; } }
@media (max-width: 30rem) { body { padding: 0.5rem; } section { padding: 0.75rem; } }
`;
