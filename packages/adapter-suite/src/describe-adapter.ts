import { describe } from 'vitest';
import { describeAddress } from './address-suite.js';
import { describeAnswers } from './answer-suite.js';
import { describeCharges } from './charge-suite.js';
import { describeFailures } from './failure-suite.js';
import type { Framework } from './framework.js';
import { describeKeys } from './key-suite.js';
import { describeLateDecisions } from './late-suite.js';
import { describeOptions } from './options-suite.js';
import { describeOutages } from './outage-suite.js';
import { describePolicies } from './policy-suite.js';
import { describeProxies } from './proxy-suite.js';
import { describeQuota } from './quota-suite.js';
import { describeResponses } from './response-suite.js';

/** What every adapter has to do. An adapter is done when it passes. */
export function describeAdapter(framework: Framework): void {
  describe(framework.name, () => {
    describeQuota(framework);
    describeOptions(framework);
    describeAnswers(framework);
    describeCharges(framework);
    describeResponses(framework);
    describePolicies(framework);
    describeKeys(framework);
    describeAddress(framework);
    describeProxies(framework);
    describeFailures(framework);
    describeOutages(framework);
    describeLateDecisions(framework);
  });
}
