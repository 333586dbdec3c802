import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Configuration } from '../../platform/config';
import { ApiKeysService } from './api-keys.service';

/** Stores the API key of the setting `BOOTSTRAP_API_KEY` when the service starts, unless it was stored before. */
@Injectable()
export class BootstrapKey implements OnApplicationBootstrap {
  private readonly logger = new Logger('access');

  constructor(
    private readonly keys: ApiKeysService,
    private readonly configuration: Configuration,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { auth, answersHttp, bootstrapApiKey } = this.configuration;
    if (!answersHttp) return;
    if (bootstrapApiKey !== null && (await this.keys.createBootstrapKey(bootstrapApiKey))) {
      this.logger.log('stored the API key of BOOTSTRAP_API_KEY');
    }
    if (auth === 'required' && !(await this.keys.hasUsableKey())) {
      this.logger.warn(
        'AUTH is "required" and no API key works: create one with npm run keys -- create --name first',
      );
    }
  }
}
