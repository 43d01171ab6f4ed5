import { type Panel, ROWS, type Unit } from './panels.js';

/** The width of a screen, in Grafana's own unit, and how wide and high a panel is by default. */
const SCREEN = 24;
const WIDTH = 8;
const HEIGHT = 8;

/** The choice at the top, in Grafana's own way to name a variable. */
const SOURCE = { type: 'prometheus', uid: '$datasource' };

/** The dashboard in Grafana's model of it (10 and 11), as JSON to be provisioned. */
export function dashboardJson(): string {
  return `${JSON.stringify(dashboard(), undefined, 2)}\n`;
}

function dashboard(): object {
  return {
    uid: 'rl-rate-limiting',
    title: 'Rate limiting',
    description: 'Who is throttled, who decides, and how the store is. Alerts: docs/runbooks.',
    tags: ['rate-limiting'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '10s',
    time: { from: 'now-30m', to: 'now' },
    timezone: 'browser',
    annotations: { list: [] },
    templating: { list: variables() },
    panels: panels(),
  };
}

function variables(): object[] {
  const source = {
    name: 'datasource',
    label: 'Prometheus',
    type: 'datasource',
    query: 'prometheus',
  };
  return [
    { ...source, hide: 0, current: {}, options: [], refresh: 1, regex: '', includeAll: false },
    labelVariable('job', 'Service', 'ratelimit_decisions_total'),
    labelVariable('policy', 'Policy', 'ratelimit_decisions_total{job=~"$job"}'),
    labelVariable(
      'key_class',
      'Key class',
      'ratelimit_decisions_total{job=~"$job", policy=~"$policy"}',
    ),
  ];
}

function labelVariable(name: string, label: string, series: string): object {
  const definition = `label_values(${series}, ${name})`;
  return {
    name,
    label,
    type: 'query',
    datasource: SOURCE,
    definition,
    query: { query: definition, refId: name },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { selected: true, text: ['All'], value: ['$__all'] },
    hide: 0,
    options: [],
    regex: '',
  };
}

function panels(): object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of ROWS) {
    const at = { id: placed.length + 1, gridPos: { x: 0, y, w: SCREEN, h: 1 } };
    placed.push({ ...at, type: 'row', title, collapsed: false, panels: [] });
    y += 1;
    let x = 0;
    for (const panel of panels) {
      const { width = WIDTH } = panel;
      if (x + width > SCREEN) {
        x = 0;
        y += HEIGHT;
      }
      const place = { id: placed.length + 1, gridPos: { x, y, w: width, h: HEIGHT } };
      placed.push({ ...place, ...panelOf(panel) });
      x += width;
    }
    y += HEIGHT;
  }
  return placed;
}

function panelOf(panel: Panel): object {
  const { title, description, queries, stat } = panel;
  const targets = queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode(65 + index),
    datasource: SOURCE,
    expr,
    legendFormat: legend,
    range: true,
  }));
  const options = stat
    ? { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, colorMode: 'value' }
    : {
        legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      };
  const type = stat ? 'stat' : 'timeseries';
  return {
    type,
    title,
    description,
    datasource: SOURCE,
    targets,
    fieldConfig: fields(panel),
    options,
  };
}

function fields({ unit, stack, limit }: Panel): object {
  const red = limit === undefined ? [] : [{ color: 'red', value: limit }];
  const steps = [{ color: limit === undefined ? 'blue' : 'green', value: null }, ...red];
  const custom = {
    fillOpacity: stack ? 40 : 0,
    lineWidth: 2,
    showPoints: 'never',
    stacking: { group: 'A', mode: stack ?? 'none' },
    thresholdsStyle: { mode: limit === undefined ? 'off' : 'line' },
  };
  const most = unit === ('percentunit' satisfies Unit) ? { max: 1 } : {};
  const defaults = { unit, min: 0, ...most, thresholds: { mode: 'absolute', steps }, custom };
  return { defaults, overrides: [] };
}
