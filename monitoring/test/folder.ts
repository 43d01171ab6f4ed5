import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** A path of the repository, from its root. */
export function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

/** A path of the folder `monitoring`. */
export function inMonitoring(path: string): string {
  return inRepository(`monitoring/${path}`);
}

export function yamlOf<Content>(path: string): Content {
  return parse(readFileSync(path, 'utf8'), { merge: true }) as Content;
}

/** What `rules.yml` has: a rule is an alert or a record. */
export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function rules(): readonly Rule[] {
  const { groups } = yamlOf<{ groups: { rules: Rule[] }[] }>(inMonitoring('prometheus/rules.yml'));
  return groups.flatMap((group) => group.rules);
}

export function alerts(): readonly (Rule & { alert: string })[] {
  return rules().filter((rule): rule is Rule & { alert: string } => rule.alert !== undefined);
}
