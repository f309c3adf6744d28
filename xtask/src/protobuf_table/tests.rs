use super::*;

const PROTO: &str = "package a;\n\n// No field.\nmessage Box {\n  // What it holds.\n  optional .k8s.io.api.core.v1.Thing thing = 1;\n\n  optional int32 count = 2;\n  optional int32 size = 3;\n  repeated string labels = 4;\n  map<string, bytes> data = 5;\n  optional Lid lid = 6;\n  optional Key key = 7;\n}\n";

const GO: &str = "package v1\n\nconst GroupName = \"boxes.example\"\n\n// Box is one.\ntype Box struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tThing `json:\",inline\" protobuf:\"bytes,1,opt,name=thing\"`\n\t// Count counts.\n\tCount *int32 `json:\"count,omitempty\" protobuf:\"varint,2,opt,name=count\"`\n\tSize int32 `json:\"howBig,omitempty\" protobuf:\"varint,3,opt,name=size\"`\n\tLabels []string `json:\"labels,omitempty\" protobuf:\"bytes,4,rep,name=labels\"`\n\tData map[string][]byte `json:\"data\" protobuf:\"bytes,5,rep,name=data\"`\n\tLid Lid `json:\"lid,omitempty\" protobuf:\"bytes,6,opt,name=lid\"`\n\tKey *Key `json:\"key\" protobuf:\"bytes,7,opt,name=key\"`\n}\n";

fn package(go: &str) -> Package {
    Package {
        name: "boxes/v1".to_owned(),
        api_version: Some("boxes.example/v1".to_owned()),
        messages: proto::messages(PROTO).unwrap(),
        types: go::types(go).unwrap(),
    }
}

#[test]
fn numbers_join_messages_and_go_types() {
    let expected = "= boxes/v1 boxes.example/v1\n+Box 1::core/v1.Thing 2:count:int32 3:howBig:int32? 4:labels:[]string 5:data:{}bytes! 6:lid:Lid! 7:key:Key~\n";
    assert_eq!(table(&[package(GO)]).unwrap(), expected);
}

#[test]
fn a_field_that_go_does_not_have_is_refused() {
    let go = GO.replace("varint,3,opt", "varint,9,opt");
    let reason = table(&[package(&go)]).unwrap_err();
    assert_eq!(reason, "boxes/v1.Box: no Go field has number 3");
}

#[test]
fn a_line_that_is_no_field_is_refused() {
    let reason = proto::messages("message Box {\n  oneof lid {\n}\n").unwrap_err();
    assert_eq!(reason, "Box: cannot read `oneof lid {`");
}

#[test]
fn the_group_is_the_one_that_is_registered() {
    assert_eq!(go::group_name(GO), Some("boxes.example"));
    assert_eq!(go::group_name("package v1\n"), None);
}
