import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { alerts, inMonitoring, inRepository, yamlOf } from './folder.js';

interface Case {
  readonly alert_rule_test: readonly {
    readonly alertname: string;
    readonly exp_alerts: readonly object[];
  }[];
}

/** Throws what promtool says where it is not content. */
function promtool(...args: string[]): string {
  return execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' });
}

test('promtool accepts the rules and the configuration', () => {
  promtool('check', 'rules', '--lint-fatal', inMonitoring('prometheus/rules.yml'));
  promtool('check', 'config', inMonitoring('prometheus/prometheus.yml'));
});

test('each alert fires in its case, and not in the other', () => {
  promtool('test', 'rules', inMonitoring('prometheus/rules.test.yml'));
});

test('each alert has a case in which it fires and one in which it must not', () => {
  const { tests } = yamlOf<{ tests: Case[] }>(inMonitoring('prometheus/rules.test.yml'));
  const expectations = tests.map((one) => one.alert_rule_test);
  for (const { alert } of alerts()) {
    const own = expectations.filter((some) => some.some(({ alertname }) => alertname === alert));
    const fires = own.filter((some) => some.some(({ exp_alerts }) => exp_alerts.length > 0));
    expect([alert, fires.length > 0, own.length > fires.length]).toEqual([alert, true, true]);
  }
});

test('each alert says what clients see and has a runbook, and each runbook its alert', () => {
  const operating = readFileSync(inRepository('docs/operating.md'), 'utf8');
  const named = alerts().map(({ alert, labels, annotations }) => {
    expect(labels?.severity, alert).toMatch(/^(warning|critical)$/);
    expect(annotations?.summary, alert).toMatch(/\{\{ \$labels\.(job|policy|instance) \}\}/);
    expect(annotations?.description, alert).toMatch(/client/i);
    const page = annotations?.runbook_url ?? '';
    expect(readFileSync(inRepository(page), 'utf8'), page).toContain(`\`${alert}\``);
    expect(operating, alert).toContain(`| \`${alert}\``);
    return page.replace('docs/runbooks/', '');
  });
  expect(readdirSync(inRepository('docs/runbooks')).sort()).toEqual(named.sort());
});
