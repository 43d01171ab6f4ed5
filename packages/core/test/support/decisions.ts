export { expectSound, facts } from '../../src/testing/contract/decisions.js';
