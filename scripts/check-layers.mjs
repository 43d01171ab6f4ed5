// Fails where a source file of packages/ imports what its layer may not, see layers.mjs.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findViolations } from './layers.mjs';

const packages = fileURLToPath(new URL('../packages/', import.meta.url));
const files = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /^[^/]+\/src\/.*\.ts$/.test(path),
);
const violations = findViolations(
  files.map((path) => [path, readFileSync(packages + path, 'utf8')]),
);
for (const violation of violations) console.error(violation);
if (violations.length > 0 || files.length === 0) process.exitCode = 1;
else console.log(`layers: ${files.length} files hold the rule`);
