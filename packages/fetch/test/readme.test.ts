import { describeReadme } from '@rl/adapter-suite';

describeReadme(new URL('../', import.meta.url));
