import type { Scenario, ScenarioResult, Stage } from '../scenario.js';
import { measureBytes } from './redis-bytes.js';
import { compareScripts } from './redis-script.js';

/** What our scripts and buckets cost the server itself. */
export const redis: Scenario = {
  name: 'redis',
  async run(stage: Stage): Promise<ScenarioResult> {
    const scripts = await compareScripts(stage);
    const bytes = await measureBytes(stage);
    return {
      figures: { scriptVsArticle: scripts.figures, bytesPerBucket: bytes.figures },
      tables: [...scripts.tables, ...bytes.tables],
    };
  },
};
