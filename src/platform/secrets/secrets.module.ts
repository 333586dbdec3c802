import { Global, Logger, Module } from '@nestjs/common';
import { Configuration, type EncryptionKey } from '../config';
import { EncryptionKeyUses } from './encryption-key-uses';
import { keyFileIn } from './key-file';
import { KeyRotation } from './key-rotation';
import { SealedColumns } from './sealed-columns';
import { SealedTextsRepository } from './sealed-texts.repository';
import { SecretBox } from './secret-box';

@Global()
@Module({
  providers: [
    EncryptionKeyUses,
    KeyRotation,
    SealedColumns,
    SealedTextsRepository,
    {
      provide: SecretBox,
      inject: [Configuration, EncryptionKeyUses],
      useFactory: async (
        { encryptionKeys, dataDirectory }: Configuration,
        uses: EncryptionKeyUses,
      ): Promise<SecretBox> => {
        const box = new SecretBox(encryptionKeys ?? (await keysIn(dataDirectory, uses)), (id) =>
          uses.hold(id),
        );
        await uses.verify(box);
        return box;
      },
    },
  ],
  exports: [EncryptionKeyUses, KeyRotation, SealedColumns, SecretBox],
})
export class SecretsModule {}

async function keysIn(
  directory: string,
  uses: EncryptionKeyUses,
): Promise<readonly EncryptionKey[]> {
  const { path, keys, isNew } = await keyFileIn(directory, (made) => uses.requireNone(made));
  if (isNew) {
    new Logger('secrets').warn(
      `Made an encryption key in ${path}. Back it up: stored secrets open with nothing else. ` +
        'Processes that share the database but not this directory need its content in ENCRYPTION_KEYS.',
    );
  }
  return keys;
}
