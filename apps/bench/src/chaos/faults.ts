import type { Fault } from './fault.js';
import { NETWORK_FAULTS } from './network-faults.js';
import { SERVER_FAULTS } from './server-faults.js';

/** All faults there are. */
export const FAULTS: readonly Fault[] = [...SERVER_FAULTS, ...NETWORK_FAULTS];
