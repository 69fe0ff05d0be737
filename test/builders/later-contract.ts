/** The contract as a later version may have it: with one more field and one more enum. */
import {
  clone,
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  EnumDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { file_locations_v1_locations } from "../../gen/locations/v1/locations_pb.ts";

const file = clone(FileDescriptorProtoSchema, file_locations_v1_locations.proto);
file.enumType.push(
  create(EnumDescriptorProtoSchema, {
    name: "AirportKind",
    value: [
      { name: "AIRPORT_KIND_UNSPECIFIED", number: 0 },
      { name: "AIRPORT_KIND_SEAPLANE_BASE", number: 1 },
    ],
  }),
);
file.messageType
  .find(({ name }) => name === "Airport")
  ?.field.push(
    create(FieldDescriptorProtoSchema, {
      name: "elevation",
      jsonName: "elevation",
      number: 8,
      type: Type.INT32,
      label: Label.OPTIONAL,
    }),
    create(FieldDescriptorProtoSchema, {
      name: "kind",
      jsonName: "kind",
      number: 9,
      type: Type.ENUM,
      typeName: ".locations.v1.AirportKind",
      label: Label.OPTIONAL,
    }),
  );

const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [file] }));
const found = registry.getMessage("locations.v1.LocationsResponse");
if (found === undefined) throw new Error("the contract has no LocationsResponse");
const LATER: DescMessage = found;

/** What the later contract gives the airport of a code. */
export interface NewFields {
  readonly elevation: number;
  readonly kind: string;
}

/** Gives the airports of an answer the new fields, and encodes it as the later service does. */
export function withNewFields(
  message: Uint8Array,
  newFields: (iata: string) => NewFields,
): Uint8Array<ArrayBuffer> {
  const json = toJson(LATER, fromBinary(LATER, message)) as JsonObject; // of a message
  const airports = (json["airports"] as JsonObject[]).map((airport) => ({
    ...airport,
    ...newFields(typeof airport["iata"] === "string" ? airport["iata"] : ""),
  }));
  return toBinary(LATER, fromJson(LATER, { ...json, airports }));
}
