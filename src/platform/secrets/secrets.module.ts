import { Global, Logger, Module } from '@nestjs/common';
import { Configuration } from '../config';
import { keyFileIn } from './key-file';
import { SecretBox } from './secret-box';

@Global()
@Module({
  providers: [
    {
      provide: SecretBox,
      inject: [Configuration],
      useFactory: async ({ encryptionKeys, dataDirectory }: Configuration): Promise<SecretBox> => {
        if (encryptionKeys !== null) return new SecretBox(encryptionKeys);
        const { path, keys, isNew } = await keyFileIn(dataDirectory);
        if (isNew) {
          new Logger('secrets').warn(
            `Made an encryption key in ${path}. Back it up: stored secrets open with nothing else. ` +
              'Processes that share the database but not this directory need its content in ENCRYPTION_KEYS.',
          );
        }
        return new SecretBox(keys);
      },
    },
  ],
  exports: [SecretBox],
})
export class SecretsModule {}
