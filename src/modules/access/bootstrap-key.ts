import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Configuration } from '../../platform/config';
import { ApiKeysService } from './api-keys.service';

/**
 * Stores the API key of the setting `BOOTSTRAP_API_KEY` when the service starts. Does nothing if it was stored before.
 */
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
    const result =
      bootstrapApiKey === null ? null : await this.keys.createBootstrapKey(bootstrapApiKey);
    if (result === 'stored') this.logger.log('stored the API key of BOOTSTRAP_API_KEY');
    if (result === 'uncertain') {
      this.logger.warn(
        'BOOTSTRAP_API_KEY was not stored, because it may be the secret of a key that an earlier release rolled: unset it, and create keys with npm run keys -- create',
      );
    }
    if (auth === 'required' && !(await this.keys.hasUsableKey())) {
      this.logger.warn(
        'AUTH is "required" and no API key works: create one with npm run keys -- create --name first',
      );
    }
  }
}
